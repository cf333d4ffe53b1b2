package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/table.md anew")

// fake is an environment variable that turns this test binary into a harness. Its value is a file
// with samples.
const fake = "COMPARE_TEST_HARNESS"

func TestMain(m *testing.M) {
	if file := os.Getenv(fake); file != "" {
		if err := fakeHarness(file, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// fakeHarness writes the samples of a scenario. For the target flush, it measures the disk.
func fakeHarness(file string, args []string) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	only, work, out := flags.String("only", "", ""), flags.String("work", "", ""), flags.String("out", "", "")
	for _, name := range []string{"config", "rounds", "duration"} {
		flags.String(name, "", "")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	samples, err := readSamples(file)
	if err != nil {
		return err
	}
	samples = slices.DeleteFunc(samples, func(s sample) bool { return s.Scenario != *only })
	for _, s := range samples {
		dir := filepath.Join(*work, fmt.Sprintf("%s-%s-%d", s.Scenario, s.Target, s.Round))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if s.Target == flushTarget {
			if err := run([]string{"flush", dir}, os.Stdout, os.Stderr); err != nil {
				return err
			}
		}
	}
	return writeSamples(*out, samples)
}

func readSamples(file string) (samples []sample, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return samples, json.Unmarshal(text, &samples)
}

// TestTable checks the table for recorded samples.
func TestTable(t *testing.T) {
	samples, err := readSamples("testdata/samples.json")
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := choose("S1,S3,S4,S5c,S8a")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	(&report{about: "2026-11-29, 37b24a34; 2 processors", samples: samples}).write(&got, scenarios)
	const golden = "testdata/table.md"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the table is\n%s\nand not\n%s", got.Bytes(), want)
	}
}

// TestRun checks that a run of a harness measures the disk and leaves nothing behind.
func TestRun(t *testing.T) {
	onLinux(t)
	t.Setenv(fake, "testdata/samples.json")
	dir, out := diskDir(t), filepath.Join(t.TempDir(), "samples.json")
	var stdout, stderr bytes.Buffer
	if err := run([]string{"-harness", os.Args[0], "-only", "S3", "-dir", dir, "-out", out}, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	samples, err := readSamples(out)
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, s := range samples {
		if s.Target == flushTarget {
			measured++
			if s.Value <= 0 || s.Value == 200 {
				t.Errorf("a flush of round %d takes %v us: it was not measured", s.Round, s.Value)
			}
		}
	}
	if measured != 2 {
		t.Errorf("%d flushes are among the samples", measured)
	}
	if !strings.Contains(stdout.String(), "| S3 HTTP, one call at a time | 100 us |") {
		t.Errorf("the table is\n%s", stdout.Bytes())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the directory of the run holds %v (%v)", left, err)
	}
}

// TestFailures checks that a run whose calls fail prints the table, keeps the logs and ends with an
// error.
func TestFailures(t *testing.T) {
	onLinux(t)
	t.Setenv(fake, "testdata/failed.json")
	dir := diskDir(t)
	var stdout, stderr bytes.Buffer
	err := run([]string{"-harness", os.Args[0], "-only", "S1", "-dir", dir}, &stdout, &stderr)
	for _, part := range []string{"S1, memory, round 1: 3 calls failed: refused", "S1, default, round 2: it ended"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, without %q", err, part)
		}
	}
	if !strings.Contains(stdout.String(), "| S1 ") {
		t.Errorf("the table is\n%s", stdout.Bytes())
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "*", "S1", "S1-default-1")); err != nil || len(kept) != 1 {
		t.Errorf("of the failed target %v is left (%v)", kept, err)
	}
}

// TestChoose checks that chosen scenarios have the order of the table, and that unknown names are
// refused.
func TestChoose(t *testing.T) {
	chosen, err := choose("S5,S1")
	var ids []string
	for _, s := range chosen {
		ids = append(ids, s.id)
	}
	if got := strings.Join(ids, " "); err != nil || got != "S1 S5a S5b S5c" {
		t.Errorf("S5,S1 is %s (%v)", got, err)
	}
	for _, bad := range []string{"", "S0", "S1,S9"} {
		if _, err := choose(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestMemory checks that the benchmark refuses to measure a file system in memory.
func TestMemory(t *testing.T) {
	onLinux(t)
	if kind, err := fileSystem("/dev/shm"); err != nil || kind != "tmpfs" {
		t.Skipf("this needs a file system in memory at /dev/shm, which is %s (%v)", kind, err)
	}
	if err := run([]string{"-dir", "/dev/shm"}, os.Stdout, os.Stderr); err == nil || !strings.Contains(err.Error(), "is in memory (tmpfs)") {
		t.Errorf("the error is %v", err)
	}
}

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the benchmark runs on Linux only")
	}
}

// diskDir returns a temporary directory that is not in memory.
func diskDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if kind, err := fileSystem(dir); err != nil || kind == "tmpfs" {
		t.Skipf("this needs temporary files on a disk: %s is %s (%v)", dir, kind, err)
	}
	return dir
}
