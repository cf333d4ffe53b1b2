package journal

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// RemoveRecords implements [backend.Backend]. Queries no longer return removed records.
// RemoveRecords deletes a sealed segment when its last record is removed, and rewrites it when half
// of its records are removed.
func (b *Backend) RemoveRecords(_ context.Context, writer string, through uint64, most int) (removed int, err error) {
	b.lockFold()
	defer b.unlockFold()
	if err := b.foldNow(true); err != nil { // after this fold, the checkpoint has the last records of all chains
		return 0, err
	}
	var gone, last uint64
	err = b.checkpoint.Read(func(r sqlite.Reading) error {
		all, err := r.Removed()
		if err != nil {
			return err
		}
		gone = all[writer]
		heads, err := r.Heads()
		for i := range heads {
			if heads[i].Writer == writer {
				last = heads[i].Seq
			}
		}
		return err
	})
	end := min(through, last, gone+uint64(most))
	if err != nil || end <= gone {
		return 0, errors.Join(err, b.archive.purge())
	}
	if err := b.checkpoint.Remove(writer, end, end == last); err != nil {
		return 0, err
	}
	if removed = int(end - gone); removed < most {
		err = b.archive.purge()
	}
	return removed, err
}
