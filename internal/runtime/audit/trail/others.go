package trail

import (
	"context"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Others reads what other processes write to a database, by the numbers of their records, so
// that no clock matters. It is for one goroutine.
type Others struct {
	database Database
	read     map[string]uint64 // by writer, the number of the last record that was read; nil: it is not known yet
}

// Others returns a reader of the records that other processes write from now on.
func (d Database) Others(ctx context.Context) *Others {
	o := &Others{database: d}
	_, _ = o.Read(ctx, 0) // the next time tries again
	return o
}

// Read returns the records since the last time, at most so many of each process, in the order of
// each. The first time that it succeeds it returns none.
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
