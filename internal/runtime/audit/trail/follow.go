package trail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// interval is the time between checks for new records.
const interval = 200 * time.Millisecond

// Last returns the newest records that f selects, at most n of them, and the number of the last
// record in the log.
func Last(ctx context.Context, s Source, n int, f *Filter) (ring []Record, end uint64, err error) {
	all := s.Records(ctx, f)
	if d, ok := s.(Database); ok && *f == (Filter{}) {
		all = d.records(ctx, backend.Query{Last: true, Limit: max(n, 1)})
	}
	for r, err := range all {
		if err != nil {
			return nil, 0, err
		}
		end = r.Seq
		if n == 0 {
			continue
		}
		if _, ok := f.Select(&r); !ok {
			continue
		}
		if len(ring) == n {
			ring = append(ring[:0], ring[1:]...)
		}
		ring = append(ring, r)
	}
	return ring, end, nil
}

// Follow calls a function for each record after the given number, including those written later,
// until ctx is done or the function returns an error. It follows the log across rotations.
func (f File) Follow(ctx context.Context, after uint64, do func(Record) error) error {
	for {
		file, err := os.Open(string(f))
		if err != nil {
			return err
		}
		err = f.follow(ctx, file, &after, do)
		_ = file.Close()
		if !errors.Is(err, errReplaced) {
			return err
		}
	}
}

// errReplaced means that the file has been read to its end and has been replaced by another file.
var errReplaced = errors.New("another file has replaced it")

// follow is like [File.Follow], but ends with [errReplaced] when another file replaces the open
// one.
func (f File) follow(ctx context.Context, file *os.File, after *uint64, do func(Record) error) error {
	var half []byte
	buf := make([]byte, 64<<10)
	replaced := false
	for {
		n, err := file.Read(buf)
		half = append(half, buf[:n]...)
		for {
			end := bytes.IndexByte(half, '\n')
			if end < 0 {
				break
			}
			if err := f.pass(ctx, half[:end], after, do); err != nil {
				return err
			}
			half = half[end+1:]
		}
		switch {
		case n > 0:
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case replaced: // everything written before the replacement has now been read
			return errReplaced
		default:
			if replaced = f.replaced(file); replaced {
				continue
			}
			if err := sleep(ctx); err != nil {
				return err
			}
		}
	}
}

// pass delivers the record in the line to the callback, unless the record was delivered before. If
// records before it were missed, pass first reads the missed records from the rotated files.
func (f File) pass(ctx context.Context, line []byte, after *uint64, do func(Record) error) error {
	l, err := audit.ParseLine(line)
	if err != nil || l.Seq <= *after {
		return nil // skip an invalid line, which "petrigate audit verify" reports
	}
	if l.Seq > *after+1 {
		for r, err := range f.Records(ctx, nil) {
			if err != nil || r.Seq >= l.Seq {
				break // ignore the error, which "petrigate audit verify" reports
			}
			if r.Seq > *after {
				if err := do(r); err != nil {
					return err
				}
			}
		}
	}
	*after = l.Seq
	return do(Record{Seq: l.Seq, Event: l.Event, Hash: l.Hash, File: string(f)})
}

// replaced reports whether the path now refers to a different file.
func (f File) replaced(file *os.File) bool {
	own, err := file.Stat()
	now, e := os.Stat(string(f))
	return err == nil && e == nil && !os.SameFile(own, now)
}

func sleep(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
		return nil
	}
}

// Follow is like [File.Follow] but starts at the given time instead of after a given record.
func (d Database) Follow(ctx context.Context, since time.Time, do func(Record) error) error {
	seen := map[string]uint64{}
	for {
		newest := since
		for r, err := range d.records(ctx, backend.Query{Since: since}) {
			if err != nil {
				return err
			}
			if r.Seq <= seen[r.Writer] {
				continue
			}
			seen[r.Writer] = r.Seq
			if e, err := r.Entry(); err == nil && e.Time.After(newest) {
				newest = e.Time
			}
			if err := do(r); err != nil {
				return err
			}
		}
		since = newest.Add(-time.Second) // other writers might still commit slightly older records
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}
