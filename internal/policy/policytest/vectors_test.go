package policytest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVectors compares every line of testdata/vectors with its expected answer.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("../testdata/vectors/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			for _, line := range vectorLines(t, file) {
				t.Run(vectorName(t, line), func(t *testing.T) {
					t.Parallel()
					testVector(t, line)
				})
			}
		})
	}
}

func testVector(t *testing.T, line []byte) {
	var out bytes.Buffer
	evaluation, err := Eval(bytes.NewReader(line), &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range evaluation.Differences {
		t.Errorf("%s\nanswer: %s", d, out.Bytes())
	}
}

// vectorLines splits a file only at LF, because strings in cases contain other line ends.
func vectorLines(t testing.TB, file string) [][]byte {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(src, []byte("\n")), []byte("\n"))
}

func vectorName(t testing.TB, line []byte) string {
	t.Helper()
	var v struct{ Case struct{ Name string } }
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	return v.Case.Name
}
