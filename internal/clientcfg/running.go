package clientcfg

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A Process holds the command line of a running process, or the part of the command line that the
// operating system reveals.
type Process []string

// Running returns all processes that are running on this machine.
func Running(ctx context.Context) ([]Process, error) {
	switch runtime.GOOS {
	case "linux":
		return procProcesses("/proc"), nil
	case "windows":
		out, err := exec.CommandContext(ctx, "tasklist", "/fo", "csv", "/nh").Output()
		return taskProcesses(out), err
	}
	out, err := exec.CommandContext(ctx, "ps", "-axo", "args=").Output()
	return psProcesses(out), err
}

// procProcesses reads the command lines of all processes from dir, which is /proc. It skips
// processes that exit before it has read them.
func procProcesses(dir string) (all []Process) {
	files, _ := filepath.Glob(filepath.Join(dir, "[0-9]*", "cmdline")) // cannot fail: the pattern is valid
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && len(line) > 0 {
			all = append(all, strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00"))
		}
	}
	return all
}

// psProcesses parses the output of ps. The first element of each [Process] is the whole line,
// because the program's path may contain spaces; the other elements are the words of the line.
func psProcesses(out []byte) (all []Process) {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, append(Process{line}, strings.Fields(line)...))
		}
	}
	return all
}

// taskProcesses parses the output of tasklist.
func taskProcesses(out []byte) []Process {
	rows, _ := csv.NewReader(bytes.NewReader(out)).ReadAll() // malformed output yields no processes
	return list.Map(rows, func(row []string) Process { return Process{row[0]} })
}

// IsRunning reports whether any of the processes belongs to the client.
func (c Client) IsRunning(all []Process) bool { return slices.ContainsFunc(all, c.isProcess) }

// isProcess reports whether p belongs to the client, judging by its program or, if that is an
// interpreter, by its script.
func (c Client) isProcess(p Process) bool {
	for _, word := range p[:min(len(p), 2)] {
		if strings.HasPrefix(word, "-") {
			continue
		}
		word = strings.ToLower(word)
		base := strings.TrimSuffix(word[strings.LastIndexAny(word, `/\`)+1:], ".exe")
		inFolder := func(folder string) bool { return strings.Contains(word, folder) }
		if slices.Contains(c.programs, base) || slices.ContainsFunc(c.folders, inFolder) {
			return true
		}
	}
	return c.Name == "claude-desktop" && len(p) == 1 && strings.EqualFold(p[0], "claude.exe")
}
