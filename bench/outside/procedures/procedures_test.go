package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProcedures converts a small data set in the format of the benchmark, made for this test, and
// replays its runs. The rules and the procedures must agree on every call.
func TestProcedures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "desk.rules")
	var out bytes.Buffer
	if err := convert([]string{"-tasks", "testdata/tasks.json", "-rules", file, "testdata/runs.json"}, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := `require sign_in before extend_rental once with same user
require sign_in before rent_car once with same user
require check_licence or see_licence_card before rent_car once
require inspect_car before rent_car once with same car
require sign_in before return_car once with same user
require inspect_car before return_car once with same car
require check_user before sign_in once with same user
`; string(text) != want {
		t.Errorf("rules:\n%s\nwant:\n%s", text, want)
	}
	t.Log(out.String())
	for _, want := range []string{
		"8 functions, 7 rules; 1 of them ask for less",
		"7 runs, 27 calls (1 that failed and 0 that cannot be read are left out)",
		"agreement with the procedures: 27 of 27 (100.0 %)",
		"refused: 7 (100.0 %), admitted: 0",
		"runs that rendered a service which the task forbids: 2, stopped: 1 (50.0 %)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

// TestImplied checks that a success counts for everything that it implies.
func TestImplied(t *testing.T) {
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "desk.rules")
	if err := convert([]string{"-tasks", "testdata/tasks.json", "-implied", "testdata/implied.json", "-rules", file}, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "require check_licence or see_licence_card before rent_car once\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

func TestBadInput(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "tasks.json")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct{ text, want string }{
		{`[`, "unexpected end"},
		{`{"a":[{"directed_action_graph":{"nodes":["xor"]}}]}`, `unknown operator "xor"`},
		{`{"a":[{"directed_action_graph":{"nodes":[["f",{}],"and"],"connections":[[0,1],[1,1]]}}]}`, "cycle"},
		{`{"a":[{"directed_action_graph":{"nodes":[["f",{}]],"connections":[[0,7]]}}]}`, "there is no node 7"},
		{`{"a":[{"directed_action_graph":{"nodes":[[1]]}}]}`, "neither an operator nor a function"},
	} {
		if err := convert([]string{"-tasks", write(c.text)}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	if err := convert(nil, &bytes.Buffer{}); err == nil {
		t.Error("no tasks, and no error")
	}
}
