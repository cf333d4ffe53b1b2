package logkind_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/logkind"
)

// last stores the record that it handles.
type last struct {
	slog.Handler
	record slog.Record
}

func (l *last) Handle(_ context.Context, r slog.Record) error {
	l.record = r
	return nil
}

// TestMarks checks that a line carries its mark and that no handler writes the mark.
func TestMarks(t *testing.T) {
	for _, of := range []func(io.Writer) slog.Handler{
		func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var marked, plain bytes.Buffer
		slog.New(of(&marked)).Info("x", logkind.Up, "a", 1)
		slog.New(of(&plain)).Info("x", "a", 1)
		if cut(marked.String()) != cut(plain.String()) {
			t.Errorf("%s, want %s", &marked, &plain)
		}
	}
	l := &last{Handler: slog.DiscardHandler}
	log := slog.New(allowing{l})
	log.Info("x", "a", 1, logkind.Operator)
	if !logkind.Of(&l.record).Equal(logkind.Operator) || logkind.Of(&l.record).Equal(logkind.Up) {
		t.Error(logkind.Of(&l.record))
	}
	log.Info("x", "a", 1)
	if !logkind.Of(&l.record).Equal(slog.Attr{}) {
		t.Error("a mark that is not there")
	}
}

// allowing is a handler that accepts lines of every level.
type allowing struct{ *last }

func (allowing) Enabled(context.Context, slog.Level) bool { return true }

// cut removes the time from a line.
func cut(line string) string { return line[strings.Index(strings.ToLower(line), "level"):] }
