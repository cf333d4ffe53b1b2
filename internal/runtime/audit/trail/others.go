package trail

import (
	"context"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Others reads the records that other processes write to a database. It relies on record numbers,
// not on clocks. It is not safe for concurrent use.
type Others struct {
	database Database
	read     map[string]uint64 // number of the last record read from each writer; nil before the first successful Read
}

// Others returns a reader for records that other processes write from now on.
func (d Database) Others(ctx context.Context) *Others {
	o := &Others{database: d}
	_, _ = o.Read(ctx, 0) // after an error, the next Read tries again
	return o
}

// Read returns the records written since the last call, at most the given number for each process.
// The records of each process are in order. The first successful call returns no records.
func (o *Others) Read(ctx context.Context, most int) (records []Record, err error) {
	heads, err := o.database.Backend.Heads(ctx)
	if err != nil {
		return nil, err
	}
	first := o.read == nil
	if first {
		o.read = map[string]uint64{}
	}
	for _, h := range heads {
		switch {
		case h.Writer == o.database.Backend.Writer():
		case first:
			o.read[h.Writer] = h.Seq
		case h.Seq > o.read[h.Writer]:
			for r, err := range o.database.records(ctx, backend.Query{Writer: h.Writer, After: o.read[h.Writer], Limit: most}) {
				if err != nil {
					return records, err
				}
				o.read[h.Writer] = r.Seq
				records = append(records, r)
			}
		}
	}
	return records, nil
}
