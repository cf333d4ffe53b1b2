package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestRedactedLog(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(redacted(slog.NewTextHandler(&b, nil), []string{"Bearer s3cr3t", "s3cr3t"}))
	log.With("with", "a s3cr3t b").WithGroup("g").Info("says s3cr3t", "text", "Bearer s3cr3t", "error", errors.New("no s3cr3t"),
		slog.Group("inner", "deep", "s3cr3t"), "number", 3, "any", []int{1})
	text := b.String()
	if strings.Contains(text, "s3cr3t") || strings.Count(text, "***") != 5 || !strings.Contains(text, "g.number=3") {
		t.Error(text)
	}
	plain := slog.NewTextHandler(&b, nil)
	if redacted(plain, nil) != slog.Handler(plain) {
		t.Error("a log without secrets is another one")
	}
}
