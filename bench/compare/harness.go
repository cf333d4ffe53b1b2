package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// A sample is one measurement of a target, such as a proxy, in the harness's JSON format.
type sample struct {
	Scenario, Target, Kind string
	Round                  int
	Metric                 string  // "p50" for latency, "rate" for throughput, or "cold" for the time to start
	Value                  float64 // microseconds for "p50", calls per second for "rate", or milliseconds for "cold"
	Error                  string  `json:",omitempty"`
	Load                   *load   `json:",omitempty"`
}

// A load holds statistics about the calls made for a sample.
type load struct {
	Calls, Errors int64
	FirstError    string `json:",omitempty"`
	P50, P99      float64
	ProxyCPU      float64 // processor time in microseconds per call
	ClientCPU     float64
	RSS           int64 // resident memory in bytes
	UpstreamReqs  float64
}

// flushTarget is the value of Target in samples that measure the disk instead of a proxy.
const flushTarget = "flush"

// A harness runs the external program that takes the measurements.
type harness struct {
	program, config string
	rounds          int
	duration        time.Duration
	progress        io.Writer // destination of the program's progress messages and tables

	work string // directory for the files of all targets, created by prepare
	disk string // type of the file system that contains work
}

// prepare creates a directory in dir for the files of this run.
func (h *harness) prepare(dir string) (err error) {
	if h.disk, err = fileSystem(dir); err != nil {
		return fmt.Errorf("looking at the disk of %s: %w", dir, err)
	}
	if h.disk == "tmpfs" || h.disk == "ramfs" {
		return fmt.Errorf("%s is in memory (%s): choose a directory on a disk with -dir", dir, h.disk)
	}
	if h.work, err = os.MkdirTemp(dir, "mcpbench-"); err != nil {
		return fmt.Errorf("making a directory for the run: %w", err)
	}
	return nil
}

// measure runs all rounds of a scenario. It removes the targets' files if all targets and calls
// succeeded.
func (h *harness) measure(s scenario) ([]sample, error) {
	// Data written by earlier scenarios must not be flushed during the measurement.
	flushAll()
	work := filepath.Join(h.work, s.id)
	out := filepath.Join(h.work, s.id+".json")
	cmd := exec.Command(h.program, "run", "-config", h.config, "-only", s.id, "-rounds", strconv.Itoa(h.rounds),
		"-duration", h.duration.String(), "-work", work, "-out", out)
	cmd.Stdout, cmd.Stderr = h.progress, h.progress
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running the harness: %w", err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var samples []sample
	if err := json.Unmarshal(text, &samples); err != nil {
		return nil, fmt.Errorf("reading the samples: %w", err)
	}
	for i := range samples {
		if t := &samples[i]; t.Target == flushTarget && t.Error == "" {
			dir := filepath.Join(work, fmt.Sprintf("%s-%s-%d", s.id, flushTarget, t.Round))
			if t.Value, err = readFlush(dir); err != nil {
				return nil, err
			}
		}
	}
	if len(failures(samples)) > 0 {
		return samples, nil
	}
	return samples, os.RemoveAll(work)
}

// writeSamples writes samples to a file in the harness's JSON format.
func writeSamples(file string, samples []sample) error {
	text, err := json.MarshalIndent(samples, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// failures returns a description of each sample whose target or calls failed.
func failures(samples []sample) (bad []string) {
	for _, s := range samples {
		switch at := fmt.Sprintf("%s, %s, round %d", s.Scenario, s.Target, s.Round+1); {
		case s.Error != "":
			bad = append(bad, fmt.Sprintf("%s: %s", at, s.Error))
		case s.Load != nil && s.Load.Errors > 0:
			bad = append(bad, fmt.Sprintf("%s: %d calls failed: %s", at, s.Load.Errors, s.Load.FirstError))
		}
	}
	return bad
}
