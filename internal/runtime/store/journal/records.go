package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// segment is a log file that a query reads.
type segment struct {
	name  string          // name of the segment's file if the segment is sealed
	file  file            // open file of a segment that is not sealed; nil if the segment is sealed
	end   int64           // offset where the file's lines end and its padding begins
	index *sqlite.Segment // index of the segment's records; nil if not indexed yet
}

// selection holds a query and the segments that it reads.
type selection struct {
	backend.Query
	removed  map[string]uint64
	segments []segment
}

// matches reports whether the query selects the record.
func (s *selection) matches(r *backend.Record) bool {
	switch {
	case r.Seq <= s.removed[r.Writer],
		s.Writer != "" && (r.Writer != s.Writer || r.Seq <= s.After),
		!s.Since.IsZero() && r.Time.Before(s.Since),
		s.Session != "" && r.Session != s.Session && r.Session != "":
		return false
	}
	return true
}

// skips reports whether the segment's index shows that the query matches no record in the segment.
func (s *selection) skips(g *segment) bool {
	if g.index == nil {
		return false
	}
	if s.Writer != "" && g.index.Chains[s.Writer].Last <= s.After {
		return true
	}
	return !s.Since.IsZero() && g.index.Latest.Before(s.Since)
}

// Records implements [backend.Backend]. It returns the records in commit order.
func (b *Backend) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	return func(yield func(backend.Record, error) bool) {
		err := b.checkOpen()
		if err == nil {
			err = b.archive.records(ctx, q, func(r *backend.Record) bool { return yield(*r, nil) })
		}
		if err != nil {
			yield(backend.Record{}, fmt.Errorf("reading the state log: %w", err))
		}
	}
}

func (a *archive) records(ctx context.Context, q backend.Query, yield func(*backend.Record) bool) error {
	s := &selection{Query: q}
	defer s.close()
	if err := s.collect(a); err != nil {
		return err
	}
	if q.Last && q.Limit > 0 {
		return s.yieldLast(ctx, a.disk, yield)
	}
	from, offset, err := s.findStart(a.disk)
	if err != nil {
		return err
	}
	n := 0
	for i := from; i < len(s.segments); i++ {
		g := &s.segments[i]
		if s.skips(g) {
			continue
		}
		more := true
		err := g.read(a.disk, offset, func(r *backend.Record) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if !s.matches(r) {
				return true, nil
			}
			n++
			more = yield(r) && (q.Limit == 0 || n < q.Limit)
			return more, nil
		})
		if offset = 0; err != nil || !more {
			return err
		}
	}
	return nil
}

// collect finds the segments of the log, and reads from the checkpoint which records have been
// removed. It opens the unsealed segments, so that the query sees a consistent log even if another
// process renames or seals them.
func (s *selection) collect(a *archive) error {
	index := map[uint64]*sqlite.Segment{}
	err := a.checkpoint.Read(func(r sqlite.Reading) (err error) {
		if s.removed, err = r.Removed(); err != nil {
			return err
		}
		all, err := r.Segments()
		for i := range all {
			index[all[i].After] = &all[i]
		}
		return err
	})
	if err != nil {
		return err
	}
	newest, header, err := a.openSegment(a.name(), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) { // another process is about to give the next segment the log's name
		header.segment, err = math.MaxUint64, nil
	}
	if err != nil {
		return err
	}
	numbers, _, sealed, err := a.listSegments()
	for _, after := range numbers {
		if after >= header.segment || err != nil {
			break // stop at the segment that was opened above; another process has since renamed it, and perhaps later segments
		}
		g := segment{name: a.segmentName(after), index: index[after]}
		if !sealed[after] {
			if g.file, err = a.disk.open(g.name+fullSuffix, os.O_RDONLY); errors.Is(err, fs.ErrNotExist) {
				g.file, err = nil, nil // the segment has just been sealed
			}
			g.index = nil
		}
		s.segments = append(s.segments, g)
	}
	if newest != nil {
		s.segments = append(s.segments, segment{file: newest})
	}
	for i := range s.segments {
		if g := &s.segments[i]; g.file != nil && err == nil {
			g.end, err = linesEnd(g.file)
		}
	}
	return err
}

func (s *selection) close() {
	for i := range s.segments {
		if f := s.segments[i].file; f != nil {
			_ = f.Close()
		}
	}
}

// open opens the segment if it is not open yet. It returns a nil file if all of the segment's
// records are removed.
func (g *segment) open(d disk) (f file, done func(), err error) {
	if g.file != nil {
		return g.file, func() {}, nil
	}
	f, err = d.open(g.name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return f, func() { _ = f.Close() }, err
}

// read reads the segment's records, starting at the given offset.
func (g *segment) read(d disk, offset int64, each func(*backend.Record) (bool, error)) error {
	f, done, err := g.open(d)
	if err != nil || f == nil {
		return err
	}
	defer done()
	end := int64(math.MaxInt64)
	if g.file != nil {
		end = g.end
	}
	return eachRecord(io.NewSectionReader(f, offset, end-offset), g.file != nil, each)
}

// findStart returns where to begin reading: the index of a segment, and an offset in its file. If
// the query selects only one writer's records after a given number, findStart skips earlier records
// where possible. It searches backwards, because such a query usually selects only new records.
func (s *selection) findStart(d disk) (from int, offset int64, err error) {
	if s.Writer == "" || s.After == 0 {
		return 0, 0, nil
	}
	for i := len(s.segments) - 1; i >= 0; i-- {
		g := &s.segments[i]
		if g.index != nil {
			if r, ok := g.index.Chains[s.Writer]; ok && r.First <= s.After {
				return i, 0, nil
			}
			continue
		}
		found := int64(-1)
		err := g.eachLineBackwards(d, func(line []byte, end int64) (bool, error) {
			if !bytes.HasPrefix(line, []byte(recordStart)) {
				return true, nil
			}
			r, err := readRecord(line)
			if err == nil && r.Writer == s.Writer && r.Seq <= s.After {
				found = end
			}
			return found < 0, err
		})
		if err != nil {
			return 0, 0, err
		}
		if found >= 0 {
			return i, found, nil
		}
	}
	return 0, 0, nil
}

// yieldLast passes the last s.Limit selected records, oldest first, to the callback.
func (s *selection) yieldLast(ctx context.Context, d disk, yield func(*backend.Record) bool) error {
	var all []backend.Record
	for i := len(s.segments) - 1; i >= 0 && len(all) < s.Limit; i-- {
		g := &s.segments[i]
		if s.skips(g) {
			continue
		}
		counts := g.file == nil
		err := g.eachLineBackwards(d, func(line []byte, _ int64) (bool, error) {
			if !bytes.HasPrefix(line, []byte(recordStart)) {
				counts = true
				return true, ctx.Err()
			}
			if !counts {
				return true, nil // the step that these records belong to is missing
			}
			r, err := readRecord(line)
			if err == nil && s.matches(&r) {
				all = append(all, r)
			}
			return len(all) < s.Limit, err
		})
		if err != nil {
			return err
		}
	}
	slices.Reverse(all)
	for i := range all {
		if !yield(&all[i]) {
			break
		}
	}
	return nil
}

// eachLineBackwards passes every line of the segment to the callback, last line first, together
// with the offset after the line.
func (g *segment) eachLineBackwards(d disk, each func(line []byte, end int64) (bool, error)) error {
	f, done, err := g.open(d)
	if err != nil || f == nil {
		return err
	}
	defer done()
	end := g.end
	if g.file == nil {
		if end, _, err = f.state(); err != nil {
			return err
		}
	}
	var behind []byte // rest of a line that begins in an earlier block
	for start, whole := end, false; start > 0; {
		n := min(start, 256<<10)
		start -= n
		block := make([]byte, n, int(n)+len(behind))
		if _, err := f.ReadAt(block, start); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		block = append(block, behind...)
		end := start + int64(len(block)) + 1
		for {
			at := bytes.LastIndexByte(block, '\n')
			if at < 0 {
				break
			}
			if whole {
				if more, err := each(block[at+1:], end); !more || err != nil {
					return err
				}
			}
			whole, end, block = true, start+int64(at)+1, block[:at]
		}
		if behind = block; start == 0 && whole && len(block) > 0 {
			_, err := each(block, end)
			return err
		}
	}
	return nil
}
