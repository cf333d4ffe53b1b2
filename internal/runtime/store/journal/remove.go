package journal

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// RemoveRecords implements [backend.Backend]. Removed records disappear from queries immediately,
// but remain in their segment's file for some time. The file of a sealed segment is deleted when
// all of its records are removed, and rewritten when half of them are.
func (b *Backend) RemoveRecords(_ context.Context, writer string, through uint64, most int) (removed int, err error) {
	b.lockFold()
	defer b.unlockFold()
	if err := b.foldNow(true); err != nil { // fold first, because the numbers of the last records are read from the checkpoint
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
