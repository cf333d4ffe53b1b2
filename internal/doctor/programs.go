package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// ShortPath returns the PATH that the operating system gives to programs started from the desktop.
// It lacks the directories that a shell adds.
func ShortPath(system string) []string {
	switch system {
	case "windows":
		return filepath.SplitList(os.Getenv("PATH")) // on Windows, desktop programs and shells get the same PATH
	case "darwin":
		return []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}
	}
	return []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
}

// commands checks that the commands of the upstreams can be found, including by desktop programs.
func (d *Doctor) commands(context.Context) []Finding {
	if d.loaded == nil {
		return nil
	}
	var all []Finding
	for _, s := range d.loaded.Servers {
		if s.Command == "" || s.Disabled {
			continue
		}
		one := *d.loaded
		one.Servers = []config.Server{s}
		if missing := check.MissingCommands(&one, diag.Error); len(missing) > 0 {
			all = append(all, problems(missing)...)
			continue
		}
		all = append(all, d.command(s))
	}
	return all
}

// command checks whether desktop programs can find an upstream's command. The caller has checked
// that the current shell can find it.
func (d *Doctor) command(s config.Server) Finding {
	dirs := d.Short
	if own, set := s.Env["PATH"]; set {
		dirs = filepath.SplitList(own)
	}
	path := s.Command
	if filepath.Base(path) == path {
		if path = find(dirs, s.Command); path == "" {
			real, err := exec.LookPath(s.Command)
			if abs, failed := filepath.Abs(real); err == nil && failed == nil {
				real = abs
			}
			return warning(fmt.Sprintf("write command: %s for the server %s", real, s.Name),
				"this shell finds the command %q of the upstream %s, but a desktop client, with its minimal PATH, cannot", s.Command, s.Name)
		}
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(s.Cwd, path)
	}
	if needs := interpreter(path); needs != "" && find(dirs, needs) == "" {
		fix := "install " + needs + " where every program can find it"
		if real, err := exec.LookPath(needs); err == nil {
			fix = fmt.Sprintf("write env: { PATH: %q } for the server %s", strings.Join(append([]string{filepath.Dir(real)}, d.Short...), string(filepath.ListSeparator)), s.Name)
		}
		return warning(fix, "the command %q of the upstream %s is a script run by %s, which a desktop client cannot find", s.Command, s.Name, needs)
	}
	return ok("the command %q of the upstream %s is found", s.Command, s.Name)
}

// find returns the path of a program in any of the directories, or "" if none of them contains it.
func find(dirs []string, name string) string {
	for _, dir := range dirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return path
		}
	}
	return ""
}

// interpreter returns the program that a script's first line looks up with env, as in
// #!/usr/bin/env node. It returns "" if the file is not such a script.
func interpreter(path string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head) // the file may be shorter than the buffer
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	words := strings.Fields(string(bytes.TrimPrefix(line, []byte("#!"))))
	if !bytes.HasPrefix(line, []byte("#!")) || len(words) < 2 || filepath.Base(words[0]) != "env" {
		return ""
	}
	i := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") })
	if i < 0 {
		return ""
	}
	return words[1+i]
}
