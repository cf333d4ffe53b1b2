package sqlite

import (
	"context"
	"fmt"
	"slices"
)

// RemoveRecords removes the oldest records of a chain. Their pages are used again.
func (b *Backend) RemoveRecords(ctx context.Context, writer string, through uint64, most int) (removed int, err error) {
	err = b.scribe.alone(ctx, func(s *scribe) error {
		if err := s.unname(writer, through); err != nil {
			return err
		}
		return s.commit(false, func(tx *transaction) (bool, error) {
			const oldest = `DELETE FROM record WHERE writer = (SELECT id FROM writer WHERE name = ?1) AND seq <= min(?2,
  (SELECT min(seq) FROM record WHERE writer = (SELECT id FROM writer WHERE name = ?1)) + ?3 - 1)`
			n, err := tx.link.exec(oldest, writer, int64(through), int64(most))
			removed = int(n)
			return n > 0, err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("removing old records from the state database: %w", err)
	}
	return removed, nil
}

// unname has the witness forget records of a chain that are to be removed: they are not missing
// then. In their place it names the end of the chain of this process, which is newer. It needs the turn.
func (s *scribe) unname(writer string, through uint64) error {
	covered := func(h testified) bool { return h.Writer == writer && h.Seq <= through }
	t, err := readTestimony(s.path + witnessSuffix)
	if err != nil || !slices.ContainsFunc(t.Heads, covered) {
		return err
	}
	if s.chain.seq > 0 {
		if err := s.testify(); err != nil {
			return err
		}
		s.proof.seq = s.chain.seq
		if t, err = readTestimony(s.path + witnessSuffix); err != nil {
			return err
		}
	}
	t.Heads = slices.DeleteFunc(t.Heads, covered)
	return t.write(s.path + witnessSuffix)
}
