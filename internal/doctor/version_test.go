package doctor

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMainVersionMatchesStandardLibrary compares the result with that of debug/buildinfo.
func TestMainVersionMatchesStandardLibrary(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{own, tool} {
		want, err := buildinfo.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := mainVersion(program); !ok || got != want.Main.Version {
			t.Errorf("%s: %q, %t, want %q", program, got, ok, want.Main.Version)
		}
	}
}

// info returns a program image that contains this build information.
func info(flags byte, compiler, modules string) string {
	text := func(s string) string { return string([]byte{byte(len(s))}) + s }
	frame := strings.Repeat("x", infoFrame)
	return infoMagic + "\x08" + string([]byte{flags}) + strings.Repeat("\x00", 16) + text(compiler) + text(frame+modules+frame)
}

func TestMainVersionOf(t *testing.T) {
	const modules = "path\tx\nmod\tx\tv1.2.3\n"
	good := info(infoInline, "go1.26", modules)
	for name, tt := range map[string]struct{ program, want string }{
		"plain":                      {good, "v1.2.3"},
		"at the edge of two reads":   {strings.Repeat(".", 1<<20-5) + good, "v1.2.3"},
		"far behind":                 {strings.Repeat(".", 3<<20) + good, "v1.2.3"},
		"behind the magic alone":     {infoMagic + strings.Repeat("\x02", 50) + good, "v1.2.3"},
		"of a development version":   {info(infoInline, "devel go1.27", modules), "v1.2.3"},
		"by pointers, before 1.18":   {info(0, "go1.17", modules), ""},
		"of another compiler":        {info(infoInline, "tinygo", modules), ""},
		"with modules that are cut":  {good[:len(good)-1], ""},
		"with a line that is broken": {info(infoInline, "go1.26", "mod\tx\n"), ""},
		"no program":                 {"#!/bin/sh\n", ""},
		"empty":                      {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, []byte(tt.program), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, ok := mainVersion(path); got != tt.want || ok != (tt.want != "") {
				t.Errorf("%q, %t, want %q", got, ok, tt.want)
			}
		})
	}
	if _, ok := mainVersion(filepath.Join(t.TempDir(), "none")); ok {
		t.Error("a program that is not there has a version")
	}
}
