package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
	"github.com/petrigate/petrigate/internal/serve/store/sqlite"
)

// A segment is a file of the log, for whoever reads records.
type segment struct {
	name  string
	steps bool            // it has steps: a record counts once its step is there
	index *sqlite.Segment // nil: it is not known what it has
}

// A selection is what is read of the log.
type selection struct {
	backend.Query
	removed  map[string]uint64
	segments []segment
}

// selects reports whether a record is selected.
func (s *selection) selects(r *backend.Record) bool {
	switch {
	case r.Seq <= s.removed[r.Writer],
		s.Writer != "" && (r.Writer != s.Writer || r.Seq <= s.After),
		!s.Since.IsZero() && r.Time.Before(s.Since),
		s.Session != "" && r.Session != s.Session && r.Session != "":
		return false
	}
	return true
}

// lacks reports whether a segment has nothing that is selected.
func (s *selection) lacks(g *segment) bool {
	if g.index == nil {
		return false
	}
	if s.Writer != "" && g.index.Chains[s.Writer].Last <= s.After {
		return true
	}
	return !s.Since.IsZero() && g.index.Latest.Before(s.Since)
}

// Records reads records in the order in which they were committed.
func (b *Backend) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	return func(yield func(backend.Record, error) bool) {
		err := b.isOpen()
		for range 3 { // segments are sealed, or removed, meanwhile
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				break
			}
			begun := false
			err = b.archive.records(ctx, q, func(r *backend.Record) bool {
				begun = true
				return yield(*r, nil)
			})
			if begun || err == nil {
				break
			}
		}
		if err != nil {
			yield(backend.Record{}, fmt.Errorf("reading from the log of the state: %w", err))
		}
	}
}

func (a *archive) records(ctx context.Context, q backend.Query, yield func(*backend.Record) bool) error {
	s, err := a.survey(q)
	if err != nil {
		return err
	}
	if q.Last && q.Limit > 0 {
		return s.last(ctx, a.disk, yield)
	}
	from, offset, err := s.locate(a.disk)
	if err != nil {
		return err
	}
	n := 0
	for i := from; i < len(s.segments); i++ {
		g := &s.segments[i]
		if s.lacks(g) {
			continue
		}
		more := true
		err := g.read(a.disk, offset, func(r *backend.Record) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if !s.selects(r) {
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

// survey lists the segments, and what is removed of them.
func (a *archive) survey(q backend.Query) (*selection, error) {
	s := &selection{Query: q}
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
		return nil, err
	}
	numbers, _, sealed, err := a.asides()
	if err != nil {
		return nil, err
	}
	for _, after := range numbers {
		g := segment{name: a.aside(after), index: index[after]}
		if !sealed[after] {
			g = segment{name: g.name + fullSuffix, steps: true}
		}
		s.segments = append(s.segments, g)
	}
	s.segments = append(s.segments, segment{name: a.name(), steps: true})
	return s, nil
}

// open opens the file of a segment, which may be sealed by now.
func (g *segment) open(d disk) (file, error) {
	f, err := d.open(g.name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) && g.steps && bytes.HasSuffix([]byte(g.name), []byte(fullSuffix)) {
		g.name, g.steps = g.name[:len(g.name)-len(fullSuffix)], false
		f, err = d.open(g.name, os.O_RDONLY)
	}
	return f, err
}

// read reads the records of a segment from an offset on.
func (g *segment) read(d disk, offset int64, each func(*backend.Record) (bool, error)) error {
	f, err := g.open(d)
	if err != nil {
		return err
	}
	defer f.Close()
	return eachRecord(io.NewSectionReader(f, offset, 1<<62), g.steps, each)
}

// locate finds where to begin: behind the record that is named by writer and number, which mostly is
// among the newest.
func (s *selection) locate(d disk) (from int, offset int64, err error) {
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
		err := g.backwards(d, func(line []byte, end int64) (bool, error) {
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

// last reads the last records that are selected.
func (s *selection) last(ctx context.Context, d disk, yield func(*backend.Record) bool) error {
	var all []backend.Record
	for i := len(s.segments) - 1; i >= 0 && len(all) < s.Limit; i-- {
		g := &s.segments[i]
		if s.lacks(g) {
			continue
		}
		counts := !g.steps
		err := g.backwards(d, func(line []byte, _ int64) (bool, error) {
			if !bytes.HasPrefix(line, []byte(recordStart)) {
				counts = true
				return true, ctx.Err()
			}
			if !counts {
				return true, nil // its step is not there
			}
			r, err := readRecord(line)
			if err == nil && s.selects(&r) {
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

// backwards reads the lines of a segment from its end, each with where it ends.
func (g *segment) backwards(d disk, each func(line []byte, end int64) (bool, error)) error {
	f, err := g.open(d)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var behind []byte // the beginning of a line whose end was read: it stands behind what is read next
	for start, whole := info.Size(), false; start > 0; {
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

// eachRecord reads the records of a part of a segment. With steps, those of a step come once its line
// is read.
func eachRecord(r io.Reader, steps bool, each func(*backend.Record) (bool, error)) error {
	err := eachLine(r, steps, func(line []byte) error {
		r, err := readRecord(line)
		if err != nil {
			return err
		}
		more, err := each(&r)
		if err == nil && !more {
			err = io.EOF
		}
		return err
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// eachLine reads the lines of the records of a part of a segment, see eachRecord. Each is good until the next.
func eachLine(r io.Reader, steps bool, each func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var waiting []byte
	var ends []int
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return nil // half a line is none
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(recordStart)) {
			if !steps {
				if err := each(line); err != nil {
					return err
				}
				continue
			}
			waiting = append(waiting, line...)
			ends = append(ends, len(waiting))
			continue
		}
		from := 0
		for _, end := range ends {
			if err := each(waiting[from:end]); err != nil {
				return err
			}
			from = end
		}
		waiting, ends = waiting[:0], ends[:0]
	}
}

// readLine reads a line without its end, which is good until the next.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		line = bytes.Clone(line)
		more, err = in.ReadBytes('\n')
		line = append(line, more...)
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}
