package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dropProgramPages unmaps the pages of the program's own file that are mapped,
// and returns how many bytes they were. A start touches a little of everything,
// and around each page that is touched the system maps those that it has at
// hand: most of what a small proxy takes. What is used further is mapped again
// when it is, from the system's cache, which keeps it or not as it needs its
// memory. Where the system refuses, nothing is lost.
func dropProgramPages() (dropped uint64) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for _, m := range cleanMappings(f, program) {
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); failed == 0 {
			dropped += m.resident
		}
	}
	return dropped
}

// A mapping is a part of a file in the memory of a process.
type mapping struct {
	start, end uintptr
	resident   uint64 // bytes
	clean      bool   // the file has all that is in it
}

// cleanMappings are those of a file that can be read from it again: they are
// not written to, and hold no page of their own, as a debugger makes where it
// sets a breakpoint. It reads smaps of /proc; see proc_pid_smaps(5).
func cleanMappings(smaps io.Reader, file string) (clean []mapping) {
	var m mapping
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var key string
		var kilobytes uint64
		switch n, _ := fmt.Sscan(line, &key, &kilobytes); {
		case n == 0:
		case !strings.HasSuffix(key, ":"):
			m = mappingOf(line, file)
		case key == "Rss:":
			m.resident = kilobytes << 10
		case (key == "Anonymous:" || key == "Swap:") && kilobytes > 0:
			m.clean = false
		case key == "VmFlags:" && m.clean: // the last line
			clean = append(clean, m)
		}
	}
	return clean
}

// mappingOf reads the first line of a mapping:
//
//	00400000-01d2b000 r-xp 00000000 fe:00 247278   /usr/bin/petrigate
func mappingOf(line, file string) (m mapping) {
	var mode string
	_, err := fmt.Sscanf(line, "%x-%x %s", &m.start, &m.end, &mode)
	m.clean = err == nil && strings.HasSuffix(line, " "+file) && !strings.Contains(mode, "w") && strings.HasSuffix(mode, "p")
	return m
}
