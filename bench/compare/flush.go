package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	flushes   = 200             // number of appends, each followed by a flush
	flushTime = 2 * time.Second // time limit for the appends; no append starts later, even if the disk is slow
	flushSize = 1600            // size of an append in bytes, equal to that of a decision record

	// After each flush, the benchmark writes as many bytes as an outcome record and pauses, to
	// imitate the rest of a call. Without the pause, a flush would take only half as long as during
	// a real call.
	unflushed = 600
	idle      = 300 * time.Microsecond
)

// measureFlush repeatedly appends to a new file in dir and flushes the file. It returns the median
// duration of a flush in microseconds.
func measureFlush(dir string) (float64, error) {
	f, err := os.CreateTemp(dir, "append-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	defer f.Close()
	line := append(bytes.Repeat([]byte{'x'}, flushSize-1), '\n')
	var took []float64
	for begin := time.Now(); len(took) < flushes && time.Since(begin) < flushTime; {
		start := time.Now()
		if _, err := f.Write(line); err != nil {
			return 0, err
		}
		if err := flush(f); err != nil {
			return 0, fmt.Errorf("flushing %s: %w", f.Name(), err)
		}
		took = append(took, float64(time.Since(start).Nanoseconds())/1e3)
		if _, err := f.Write(line[:unflushed]); err != nil {
			return 0, err
		}
		<-time.After(idle)
	}
	return median(took), nil
}

// flushFile is the name of the file that contains the median flush time, in the target's directory.
const flushFile = "flush"

// writeFlush measures how long flushes take on the disk that contains dir, and writes the result to
// a file in dir.
func writeFlush(dir string) error {
	us, err := measureFlush(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, flushFile), []byte(strconv.FormatFloat(us, 'f', 1, 64)+"\n"), 0o644)
}

// readFlush returns the median flush time that writeFlush stored in dir.
func readFlush(dir string) (float64, error) {
	text, err := os.ReadFile(filepath.Join(dir, flushFile))
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}
