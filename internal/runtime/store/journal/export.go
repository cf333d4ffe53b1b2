package journal

import (
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// exportSize is the approximate size in bytes of each segment that export writes.
const exportSize = maxSegment

// export moves the records from a database with an older schema to segments that precede the log.
func (f *directory) export(logger *slog.Logger, total int64, records iter.Seq2[backend.Record, error]) (segments []sqlite.Segment, err error) {
	if total == 0 {
		return nil, nil
	}
	next, stop := iter.Pull2(records)
	defer stop()
	logger.Info("moving the records of the state database to files beside it, once", "records", total, "database", f.path)
	lastLog, done := time.Now(), int64(0)
	var line []byte
	for more := true; more; {
		after, size := uint64(len(segments)), 0
		name := f.segmentName(after)
		if err := f.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		s, err := f.copyRecords(name, after, func(yield func([]byte) error) error {
			for size < exportSize {
				r, err, ok := next()
				if more = ok; !ok || err != nil {
					return err
				}
				done++
				line = appendRecord(line[:0], &r)
				size += len(line)
				if err := yield(line[:len(line)-1]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		segments = append(segments, *s)
		if now := time.Now(); now.Sub(lastLog) > 2*time.Second {
			lastLog = now
			logger.Info("moving records", "records", done, "of", total)
		}
	}
	return segments, nil
}
