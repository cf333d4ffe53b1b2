package audit

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A disk keeps records until it is full.
type disk struct {
	full  bool
	lines []string
}

func (d *disk) Append(record []byte) error {
	if d.full {
		return errors.New("no space left")
	}
	d.lines = append(d.lines, string(record))
	return nil
}

func moment() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// TestGap checks that Ready reports a storage failure in advance, and that the gap is marked as
// soon as records can be stored again.
func TestGap(t *testing.T) {
	d := &disk{}
	r := NewRecorder(d, moment)
	if err := r.Write(Switch{Time: moment(), Event: "activate", Net: "n", Actor: "ann"}); err != nil || r.Ready() != nil {
		t.Fatal(err)
	}
	d.full = true
	if err := r.Ready(); err != nil {
		t.Errorf("nothing has failed yet: %v", err)
	}
	if err := r.Write(Task{}); !errors.Is(err, ErrUnrecorded) {
		t.Errorf("%v", err)
	}
	if err := r.Ready(); !errors.Is(err, ErrUnrecorded) {
		t.Errorf("the disk is full still: %v", err)
	}
	d.full = false
	for range 2 {
		if err := r.Ready(); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		`{"time":"2026-01-02T03:04:05Z","event":"activate","net":"n","actor":"ann"}`,
		`{"time":"2026-01-02T03:04:05Z","event":"resumed"}`,
	}
	if len(d.lines) != 2 || d.lines[0] != want[0] || d.lines[1] != want[1] {
		t.Errorf("%q, want %q", d.lines, want)
	}
}

// TestUnwritable checks that invalid JSON is not stored in part.
func TestUnwritable(t *testing.T) {
	d := &disk{}
	if err := NewRecorder(d, moment).Write(Decision{Args: json.RawMessage(`{`)}); !errors.Is(err, ErrUnrecorded) || len(d.lines) > 0 {
		t.Errorf("%v, %q", err, d.lines)
	}
}

// TestNothing checks that without a storage nothing is recorded and nothing fails.
func TestNothing(t *testing.T) {
	r := NewRecorder(nil, moment)
	if r.Active() || r.Write(Task{}) != nil || r.Ready() != nil {
		t.Error("a record was written to nowhere")
	}
}

// TestNames checks that an unknown name permits nothing.
func TestNames(t *testing.T) {
	for k, want := range map[gate.VerdictKind]string{gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields", gate.Abstain: "abstain"} {
		if got := VerdictName(k); got != want {
			t.Errorf("%v: %q", k, got)
		}
	}
}
