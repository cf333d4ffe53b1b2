package trail

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// VerifyChains verifies the chains of a database: each by itself, the columns beside them, and against what the first
// records of others say of its end, so that a chain of which the end was cut off is missed.
func VerifyChains(ctx context.Context, d Database) (Report, error) {
	r := Report{Faults: []Fault{}, Warnings: []string{}}
	heads, err := d.Backend.Heads(ctx)
	if err != nil {
		return r, err
	}
	ends, named := map[string]audit.Place{}, map[audit.Head]string{}
	for _, h := range heads {
		r.Chains++
		last, err := d.chain(ctx, &r, h.Writer, named)
		if err != nil {
			return r, err
		}
		ends[h.Writer] = last
	}
	for h, by := range named {
		if r.faulty(h.Writer) {
			continue
		}
		if err := d.met(ctx, &r, h, by, ends); err != nil {
			return r, err
		}
	}
	if err := d.order(ctx, &r); err != nil {
		return r, err
	}
	if len(named) == 0 && len(heads) > 0 {
		r.Warnings = append(r.Warnings, unnamed(len(heads)))
	}
	return r, nil
}

// unnamed says that the ends of chains are nowhere else, where there are so many.
func unnamed(chains int) string {
	if chains == 1 {
		return "whether the last records were cut off is not known yet: the next proxy that starts with this database notes where they end"
	}
	return "no chain names the end of another: whether records were cut off at an end is not known"
}

// chain verifies the chain of a writer, and collects the ends of others that it names.
func (d Database) chain(ctx context.Context, r *Report, writer string, named map[audit.Head]string) (last audit.Place, err error) {
	fault := func(seq uint64, what string) {
		r.Faults = append(r.Faults, Fault{Writer: writer, Seq: seq, What: what})
	}
	for record, err := range d.Backend.Records(ctx, backend.Query{Writer: writer}) {
		if err != nil {
			return last, err
		}
		before := last
		last = audit.Place{Seq: record.Seq, Hash: record.Hash}
		switch {
		case record.Seq != before.Seq+1:
			fault(before.Seq+1, fmt.Sprintf("record %d follows record %d: what was between them is missing", record.Seq, before.Seq))
			return last, nil
		case audit.Link(before.Hash, record.Seq, record.Object) != record.Hash:
			fault(record.Seq, "the hash is not that of its content and of the record before it: one of the two was changed")
			return last, nil
		}
		e, what := columns(&record)
		if what != "" && !r.faulty(writer) {
			fault(record.Seq, what) // the chain goes on: its hashes are sound
		}
		if what == "" {
			r.Records++
		}
		if e.Event == "start" {
			for _, h := range e.Heads {
				named[h] = writer
			}
		}
	}
	return last, nil
}

// met verifies that the record is there which another chain names as the end of one.
func (d Database) met(ctx context.Context, r *Report, h audit.Head, by string, ends map[string]audit.Place) error {
	last, ok := ends[h.Writer]
	switch {
	case !ok:
		r.Faults = append(r.Faults, Fault{Writer: h.Writer, Seq: 1, What: fmt.Sprintf("the chain is missing: the first record of chain %s knows it with %d records", by, h.Seq)})
		return nil
	case last.Seq < h.Seq:
		r.Faults = append(r.Faults, Fault{Writer: h.Writer, Seq: last.Seq + 1, What: fmt.Sprintf("records %d to %d are missing at the end: the first record of chain %s knows them", last.Seq+1, h.Seq, by)})
		return nil
	}
	for record, err := range d.records(ctx, backend.Query{Writer: h.Writer, After: h.Seq - 1, Limit: 1}) {
		if err != nil {
			return err
		}
		if record.Seq != h.Seq || hex.EncodeToString(record.Hash[:]) != h.Hash {
			r.Faults = append(r.Faults, Fault{Writer: h.Writer, Seq: h.Seq, What: fmt.Sprintf("it is not the record that the first record of chain %s knows", by)})
		}
	}
	return nil
}
