package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestAuditLogProblemsAreLogged checks that removed lines and a file that cannot be rotated are
// logged as errors, and that records are written nevertheless.
func TestAuditLogProblemsAreLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	var said bytes.Buffer
	d := &Daemon{log: slog.New(slog.NewTextHandler(&said, nil)), config: &config.Config{Audit: config.Audit{File: "audit.jsonl", Rotate: config.Rotate{Size: 10}}}}
	open := func() {
		t.Helper()
		log, err := d.openAudit()
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		for range 2 {
			if err := log.Append([]byte(`{"event":"x"}`)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := os.MkdirAll("audit.jsonl.next/in", 0o700); err != nil {
		t.Fatal(err)
	}
	open()
	if err := os.Truncate("audit.jsonl", 0); err != nil {
		t.Fatal(err)
	}
	open()
	for _, want := range []string{
		`msg="the audit log cannot be rotated and keeps growing" file=audit.jsonl error="remove audit.jsonl.next: directory not empty"`,
		`msg="the audit log was changed since it was written" file=audit.jsonl missing="all records up to record 3"`,
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s\nis not in\n%s", want, &said)
		}
	}
}

// TestMissingHeadIsLogged checks that operators are warned if the head of the log cannot be written
// to the directory.
func TestMissingHeadIsLogged(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("audit.jsonl", nil, 0o600), os.Chmod(".", 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(".", 0o700) })
	var said bytes.Buffer
	d := &Daemon{log: slog.New(slog.NewTextHandler(&said, nil)), config: &config.Config{Audit: config.Audit{File: "audit.jsonl"}}}
	log, err := d.openAudit()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if !strings.Contains(said.String(), "cannot write the head next to the audit log") {
		t.Error(&said)
	}
}

// TestAuditInfoCountsRotatedFiles checks that the description of the log in the status includes
// rotated files.
func TestAuditInfoCountsRotatedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &Daemon{log: slog.New(slog.DiscardHandler), secrets: mask(nil), config: &config.Config{}}
	if info := d.auditInfo(); info != nil {
		t.Errorf("%+v without a log", info)
	}
	d.config.Audit = config.Audit{File: "audit.jsonl", Rotate: config.Rotate{Size: 10}}
	var err error
	if d.audit, err = d.openAudit(); err != nil {
		t.Fatal(err)
	}
	defer d.audit.Close()
	for range 3 { // the second and third are in separate files, each after two lines about the rotation
		if err := d.audit.Append([]byte(`{"event":"x"}`)); err != nil {
			t.Fatal(err)
		}
	}
	info := d.auditInfo()
	if !filepath.IsAbs(info.File) || filepath.Base(info.File) != "audit.jsonl" || info.Records != 7 || info.Aside != 2 || info.Rotated == nil || info.Error != "" {
		t.Errorf("%+v", info)
	}
	if err := os.Remove("audit.jsonl"); err != nil {
		t.Fatal(err)
	}
	if err, said := d.audit.Append([]byte(`{"event":"x"}`)), d.auditInfo().Error; err == nil || said != err.Error() {
		t.Errorf("%v, and status says %q", err, said)
	}
}
