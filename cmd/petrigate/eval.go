package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/policy/policytest"
	"github.com/petrigate/petrigate/internal/text"
)

func newEval(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "eval --cases FILE",
		Short: "Evaluate a policy offline on cases",
		Long: "eval reads cases, one JSON object per line, and prints one answer per line in the same order. For a line\n" +
			"{\"case\": ..., \"expect\": ...} it compares the answer and exits with code 4 if it differs. It parses the\n" +
			"claims (prove) of a case but does not prove them: petrigate check does. If a line is not a case, eval\n" +
			"continues, and exits with code 1.\n" +
			"\n" +
			"A case is a single line, such as:\n" +
			`  {"rules": "block delete", "events": [{"type": "call", "id": "1", "tool": "delete", "args": {"path": "a"}}]}` + "\n" +
			`The event {"type": "result", "id": "1", "outcome": "success"} reports the success of the call with that id.` + "\n" +
			"docs/json.md lists the other fields and the fields of answers.",
		Args: cobra.NoArgs,
	}
	file := c.Flags().String("cases", "", "`file` of cases; - is standard input")
	c.RunE = func(*cobra.Command, []string) error {
		in, done, err := openCases(s, *file)
		if err != nil {
			return err
		}
		defer done()
		e, err := policytest.Eval(in, s.out)
		if err != nil {
			return err
		}
		for _, d := range e.Differences {
			_, _ = fmt.Fprintln(s.err, d)
		}
		for _, u := range e.Unreadable {
			_, _ = fmt.Fprintln(s.err, u)
		}
		switch {
		case len(e.Unreadable) > 0:
			return fmt.Errorf("%s could not be read; petrigate eval --help shows the format", text.Count(len(e.Unreadable), "case"))
		case len(e.Differences) > 0:
			return &exitError{exitDiffers, fmt.Errorf("%s from the expected answers", text.Subject(len(e.Differences), "answer", "differs", "differ"))}
		}
		return nil
	}
	return c
}

func openCases(s stdio, path string) (io.Reader, func(), error) {
	switch path {
	case "":
		return nil, nil, usage("eval requires --cases FILE, or --cases - for standard input")
	case "-":
		return s.in, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the cases %s: %w", path, text.Innermost(err))
	}
	return f, func() { _ = f.Close() }, nil
}
