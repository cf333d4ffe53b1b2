package trail

import (
	"context"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// VerifyChains verifies the chains in a database. It checks the hashes in each chain and compares
// each record with the columns of its row. The first record of a chain names the last records of
// the other chains at that time, so VerifyChains also detects a truncated chain. Records may be
// missing at the beginning of a chain if a removal event accounts for them.
func VerifyChains(ctx context.Context, d Database) (r Report, err error) {
	for range 5 {
		var then, now *audit.Removed
		if then, err = d.newestRemoval(ctx); err == nil {
			r, err = verifyChains(ctx, d, then)
		}
		if err != nil || r.OK() {
			break
		}
		if now, err = d.newestRemoval(ctx); err != nil || now == nil || then != nil && now.Time.Equal(then.Time) {
			break
		} // records were removed during verification, so try again
	}
	return r, err
}

func verifyChains(ctx context.Context, d Database, copied *audit.Removed) (Report, error) {
	r := Report{Faults: []Fault{}, Warnings: []string{}}
	heads, err := d.Backend.Heads(ctx)
	if err != nil {
		return r, err
	}
	gone, err := newRemovals(copied)
	if err != nil {
		return r, err
	}
	v := &chainVerifier{d, &r, gone, map[string]audit.Place{}, map[audit.Head]string{}}
	for _, h := range heads {
		r.Chains++
		if err := v.verify(ctx, h.Writer); err != nil {
			return r, err
		}
	}
	for writer := range v.ends {
		v.checkStart(writer)
	}
	for h, by := range v.named {
		if r.faulty(h.Writer) {
			continue
		}
		if err := v.checkEnd(ctx, h, by); err != nil {
			return r, err
		}
	}
	if err := d.checkDamage(ctx, &r); err != nil {
		return r, err
	}
	switch {
	case len(v.named) > 0:
	case len(heads) == 1:
		r.Warnings = append(r.Warnings, "cannot tell yet whether the last records were removed: the next proxy that starts with this database records where the log ends")
	case len(heads) > 1:
		r.Warnings = append(r.Warnings, "cannot tell whether the latest records were removed: no other audit chain recorded where this one ends")
	}
	r.Removed = gone.newest
	return r, nil
}

// A chainVerifier verifies the chains in a database.
type chainVerifier struct {
	Database
	report   *Report
	removals *removals
	ends     map[string]audit.Place // end of each chain, keyed by writer
	named    map[audit.Head]string  // last records of chains, as named by the start records of other chains; each is stored with the writer of the chain that names it
}

// addFault adds a fault in the writer's chain to the report.
func (v *chainVerifier) addFault(writer string, seq uint64, what string) {
	v.report.Faults = append(v.report.Faults, Fault{Writer: writer, Seq: seq, What: what})
}

// verify verifies the chain of one writer, beginning after the removed records. It collects the
// records that this chain names as the ends of other chains. checkStart later verifies that the
// removal was recorded.
func (v *chainVerifier) verify(ctx context.Context, writer string) error {
	last := v.removals.assumed[writer]
	defer func() { v.ends[writer] = last }()
	for record, err := range v.Backend.Records(ctx, backend.Query{Writer: writer, After: last.Seq}) {
		if err != nil {
			return err
		}
		before := last
		last = audit.Place{Seq: record.Seq, Hash: record.Hash}
		switch {
		case record.Seq != before.Seq+1:
			v.addFault(writer, before.Seq+1, fmt.Sprintf("record %d follows record %d: the records between them are missing", record.Seq, before.Seq))
			return nil
		case audit.Link(before.Hash, record.Seq, record.Object) != record.Hash:
			v.addFault(writer, record.Seq, "the hash does not match the record and the one before it: one of them was changed")
			return nil
		}
		s, what := checkColumns(&record)
		if what != "" && !v.report.faulty(writer) {
			v.addFault(writer, record.Seq, what) // continue after this fault, because the hashes are valid
		}
		if what == "" {
			v.report.Records++
		}
		switch s.Event {
		case "start":
			for _, h := range s.Heads {
				v.named[h] = writer
			}
		case "removed":
			v.removals.add(&s)
		}
	}
	return nil
}

// checkStart verifies that a removal event accounts for the records missing at the beginning of the
// chain.
func (v *chainVerifier) checkStart(writer string) {
	from := v.removals.assumed[writer]
	if from.Seq == 0 || v.removals.onChain[writer] == from || v.report.faulty(writer) {
		return
	}
	v.addFault(writer, 1, fmt.Sprintf("records 1 to %d are missing: no record of their removal exists", from.Seq))
}

// checkEnd checks a record that the first record of another chain names as the last of its chain.
// The record's chain must contain it unchanged, or a removal event must account for it. Otherwise,
// checkEnd adds a fault that names the writer of the other chain.
func (v *chainVerifier) checkEnd(ctx context.Context, h audit.Head, by string) error {
	may, why := v.removals.covers(h)
	last, ok := v.ends[h.Writer]
	switch {
	case why != "":
		v.addFault(h.Writer, h.Seq, fmt.Sprintf("%s: the first record of chain %s names a different one", why, by))
		return nil
	case may:
		return nil
	case !ok:
		v.addFault(h.Writer, 1, fmt.Sprintf("the chain is missing: the first record of chain %s names it, with %s", by, Records(h.Seq)))
		return nil
	case last.Seq < h.Seq:
		v.addFault(h.Writer, last.Seq+1, fmt.Sprintf("records %d to %d are missing at the end: the first record of chain %s names them", last.Seq+1, h.Seq, by))
		return nil
	}
	for record, err := range v.records(ctx, backend.Query{Writer: h.Writer, After: h.Seq - 1, Limit: 1}) {
		if err != nil {
			return err
		}
		if h != (audit.Place{Seq: record.Seq, Hash: record.Hash}).Head(h.Writer) {
			v.addFault(h.Writer, h.Seq, fmt.Sprintf("it differs from the record that the first record of chain %s names", by))
		}
	}
	return nil
}
