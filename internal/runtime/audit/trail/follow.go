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

// interval is how often a log is looked at for new records.
const interval = 200 * time.Millisecond

// Last returns the last n records of a log that f selects, and the number of the last of all.
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

// Follow passes the records to do that come after the record number after, as they come,
// over the change to another file, until ctx or do ends it.
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

// errReplaced is that another file has taken the place of one that was read to its end.
var errReplaced = errors.New("another file is in its place")

// follow passes on the records of one file.
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
		case replaced: // what was written before it was replaced is read
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

// pass passes on a line, unless it was read before, and what was put aside before it was read.
func (f File) pass(ctx context.Context, line []byte, after *uint64, do func(Record) error) error {
	l, err := audit.ParseLine(line)
	if err != nil || l.Seq <= *after {
		return nil // verify tells of what is no record
	}
	if l.Seq > *after+1 {
		for r, err := range f.Records(ctx, nil) {
			if err != nil || r.Seq >= l.Seq {
				break // likewise
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

// replaced reports whether the name is that of another file now.
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

// Follow is [File.Follow] of a database. Since is when to begin.
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
		since = newest.Add(-time.Second) // others may have been slower
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}
