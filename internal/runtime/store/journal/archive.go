package journal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// archive manages the segments (files) of the log that are full and have been renamed. Only one
// goroutine at a time may modify it.
type archive struct {
	directory
	checkpoint *sqlite.Checkpoint
}

// seal rewrites each renamed segment that ends at or before the given step, so that it contains
// only records. The caller must hold the folding lock.
func (a *archive) seal(folded uint64) error {
	numbers, full, _, err := a.listSegments()
	if err != nil {
		return err
	}
	for i, after := range numbers {
		if !full[after] {
			continue
		}
		end, err := a.segmentEnd(numbers[i+1:])
		if err != nil || end > folded {
			return err
		}
		if err := a.sealOne(after); err != nil {
			return err
		}
	}
	return nil
}

// segmentEnd returns the number of the last step in a renamed segment. The argument lists the
// numbers of the renamed segments after it. If a rotation was not completed, the next segment does
// not have its final name yet. segmentEnd then returns math.MaxUint64.
func (a *archive) segmentEnd(later []uint64) (uint64, error) {
	if len(later) > 0 {
		return later[0], nil
	}
	f, header, err := a.openSegment(a.name(), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return math.MaxUint64, nil // a rotation has not been completed
	}
	if err != nil {
		return 0, err
	}
	return header.step, f.Close()
}

func (a *archive) sealOne(after uint64) error {
	name := a.segmentName(after)
	f, header, err := a.openSegment(name+fullSuffix, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has already sealed the segment
	}
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := a.copyRecords(name, after, func(yield func([]byte) error) error {
		return eachLine(io.NewSectionReader(f, header.offset, math.MaxInt64-header.offset), true, yield)
	})
	if err == nil {
		err = a.checkpoint.Seal([]sqlite.Segment{*s}, nil)
	}
	if err == nil {
		err = a.disk.remove(name + fullSuffix)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copyRecords writes a sealed segment that contains the given record lines, and flushes it to disk.
func (a *directory) copyRecords(name string, after uint64, lines func(yield func(line []byte) error) error) (*sqlite.Segment, error) {
	d := a.disk
	torn := fmt.Sprintf("%s.%s%s", name, a.owner, unsealedSuffix)
	if err := d.remove(torn); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := d.open(torn, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	s := &sqlite.Segment{After: after, Chains: map[string]sqlite.Range{}}
	out := bufio.NewWriterSize(f, 256<<10)
	err = lines(func(line []byte) error {
		r, _, err := readRecordHead(line, backend.Record{})
		if err != nil {
			return err
		}
		in := s.Chains[r.Writer]
		s.Chains[r.Writer] = sqlite.Range{First: cmp.Or(in.First, r.Seq), Last: max(in.Last, r.Seq)}
		if r.Time.After(s.Latest) {
			s.Latest = r.Time
		}
		_, err = out.Write(line)
		return errors.Join(err, out.WriteByte('\n'))
	})
	err = errors.Join(err, out.Flush(), f.sync(), f.Close())
	if err == nil {
		err = d.rename(torn, name)
	}
	if err == nil {
		err = d.syncDir(filepath.Dir(name))
	}
	if err != nil {
		_ = d.remove(torn)
		return nil, err
	}
	return s, nil
}

// purge deletes each sealed segment whose records have all been removed, and rewrites each one that
// has lost at least half of its records. The caller must hold the folding lock.
func (a *archive) purge() error {
	var removed map[string]uint64
	var all []sqlite.Segment
	err := a.checkpoint.Read(func(r sqlite.Reading) (err error) {
		if removed, err = r.Removed(); err != nil {
			return err
		}
		all, err = r.Segments()
		return err
	})
	if err != nil {
		return err
	}
	for i := range all {
		if err := a.purgeOne(&all[i], removed); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) purgeOne(s *sqlite.Segment, removed map[string]uint64) error {
	var stay, leave uint64
	for writer, r := range s.Chains {
		stay += r.Last - min(max(removed[writer], r.First-1), r.Last)
		leave += max(min(removed[writer], r.Last), r.First-1) - (r.First - 1)
	}
	name := a.segmentName(s.After)
	switch {
	case stay == 0:
		if err := a.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := a.disk.syncDir(filepath.Dir(name)); err != nil {
			return err // without this flush, a crash could bring the file back after the database has stopped listing it
		}
		return a.checkpoint.Seal(nil, []uint64{s.After})
	case leave < stay:
		return nil
	}
	f, err := a.disk.open(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has already removed the segment
	}
	if err != nil {
		return err
	}
	defer f.Close()
	left, err := a.copyRecords(name, s.After, func(yield func([]byte) error) error {
		return eachLine(io.NewSectionReader(f, 0, math.MaxInt64), false, func(line []byte) error {
			r, _, err := readRecordHead(line, backend.Record{})
			if err != nil || r.Seq <= removed[r.Writer] {
				return err
			}
			return yield(line)
		})
	})
	if err != nil {
		return err
	}
	return a.checkpoint.Seal([]sqlite.Segment{*left}, nil)
}
