package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// Damage checks the log and the checkpoint for tampering. It checks only the steps after the last
// sealed segment, because sealed segments no longer contain their steps. It returns the damaged
// file and a description of the damage; both are empty if it found none.
func (b *Backend) Damage(context.Context) (file, what string, err error) {
	if err := b.checkOpen(); err != nil {
		return "", "", err
	}
	err = b.checkpoint.Read(func(r sqlite.Reading) error {
		for range 3 { // another process may seal segments during the check
			i := inspection{directory: b.archive.directory, reading: r}
			err = i.run()
			if file, what = i.file, i.what; !errors.Is(err, fs.ErrNotExist) && !i.moved {
				break
			}
		}
		return err
	})
	if file != "" {
		file = filepath.Base(file)
	}
	return file, what, err
}

// inspection holds the state of a check of the log. The check begins with the first segment that is
// not sealed.
type inspection struct {
	directory
	reading sqlite.Reading
	place   sqlite.Place
	image   image
	started bool
	file    string
	what    string
	moved   bool // whether another process may have renamed the log after the segments were listed
}

func (i *inspection) report(file, format string, args ...any) {
	if i.what == "" {
		i.file, i.what = file, fmt.Sprintf(format, args...)
	}
}

func (i *inspection) run() (err error) {
	if i.place, err = i.reading.Place(); err != nil {
		return err
	}
	numbers, full, sealed, err := i.listSegments()
	if err != nil {
		return err
	}
	for _, after := range numbers {
		if full[after] && !sealed[after] {
			if err := i.checkSegment(i.segmentName(after) + fullSuffix); err != nil || i.what != "" {
				return err
			}
		}
	}
	if err := i.checkSegment(i.name()); err != nil || i.what != "" {
		return err
	}
	if i.image.at.step < i.place.Step {
		i.report(i.name(), "it ends with step %d, but the checkpoint has step %d", i.image.at.step, i.place.Step)
	}
	return nil
}

// checkSegment verifies a segment. It also verifies the checkpoint if the checkpoint's position is
// in the segment.
func (i *inspection) checkSegment(name string) error {
	f, header, err := i.openSegment(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		i.report(name, "%v", err)
		return nil
	}
	defer func() { _ = f.Close() }()
	if !i.started {
		i.image = newImage(&sqlite.Place{Step: header.step, Hash: header.hash, Segment: header.segment, Offset: header.offset}, map[string]backend.Stop{}, sqlite.Clock{})
		i.started = true
	}
	if at := &i.image.at; header.step != at.step || header.hash != at.hash {
		i.moved = true
		i.report(name, "its first line does not follow step %d, the last one of the previous segment: it was changed", at.step)
		return nil
	}
	end, err := linesEnd(f)
	if err != nil {
		return err
	}
	data := make([]byte, max(0, end-header.offset))
	if _, err := f.ReadAt(data, header.offset); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i.image.at = header
	if err := i.compareCheckpoint(name); err != nil {
		return err
	}
	s := scan{at: header}
	for len(data) > 0 && i.what == "" {
		from := s.at.offset
		st, ok, broken := s.next(data)
		if broken != nil {
			i.report(name, "a line after step %d was changed", s.at.step)
		}
		if !ok {
			break // another process may be writing the step
		}
		data = data[s.at.offset-from:]
		i.image.apply(&st)
		i.image.at = s.at
		if err := i.compareCheckpoint(name); err != nil {
			return err
		}
	}
	return nil
}

// compareCheckpoint compares the checkpoint with the state replayed from the log, if the replay has
// just reached the checkpoint's last step.
func (i *inspection) compareCheckpoint(name string) error {
	at := &i.image.at
	if at.step != i.place.Step {
		return nil
	}
	if at.hash != i.place.Hash {
		i.report(name, "step %d differs from the one in the checkpoint", at.step)
		return nil
	}
	for id, p := range i.image.parts {
		if p.data == nil && p.version > 0 {
			continue // the log contains only changes to this part of the state, not the whole part
		}
		if err := i.comparePart(id, p); err != nil {
			return err
		}
	}
	stops, err := i.reading.Stops()
	for session := range i.image.switched {
		want, stopped := i.image.stops[session]
		if got, is := stops[session]; is != stopped || stopped && !got.Time.Equal(want.Time) {
			i.report(i.path, "the stop of %s differs from the log: it was changed", map[bool]string{true: "all sessions", false: fmt.Sprintf("session %q", session)}[session == ""])
		}
	}
	return err
}

func (i *inspection) comparePart(id backend.PartID, p *part) error {
	got, err := i.reading.Part(id)
	if err != nil {
		return err
	}
	want := p.snapshot(id)
	data, err := want.Merged(nil)
	if err != nil {
		return err
	}
	if got.Version != want.Version || !equal(got.Data, data) {
		i.report(i.path, "the %s %q differs from the log: it was changed", id.Scope, id.Name)
		return nil
	}
	for key, row := range want.Values {
		if !slices.Equal(got.Values[key], row) {
			i.report(i.path, "a value of the %s %q differs from the log: it was changed", id.Scope, id.Name)
		}
	}
	return nil
}

// equal reports whether two JSON values are equal, ignoring the order of members.
func equal(a, b []byte) bool {
	if slices.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
