package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
	"github.com/petrigate/petrigate/rules"
)

// formatFlags selects what fmt does with the canonical form of a file.
type formatFlags struct{ write, diff, check bool }

func newFmt(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "fmt (FILE.rules | FOLDER)...",
		Short: "Format files of rules",
		Long: "fmt prints files of rules in their canonical form: statements with single spaces, one blank line at a time,\n" +
			"comments behind neighboring statements in one column. It keeps every comment and what the rules mean. A\n" +
			"folder stands for the files *.rules in it and below it, - for standard input. A file with mistakes is left\n" +
			"alone, and ends it with exit code 3.",
		Args: cobra.MinimumNArgs(1),
	}
	var f formatFlags
	c.Flags().BoolVarP(&f.write, "write", "w", false, "write the files that change, and print nothing")
	c.Flags().BoolVarP(&f.diff, "diff", "d", false, "print what would change")
	c.Flags().BoolVar(&f.check, "check", false, "name the files that would change, and end with exit code 1 if there are any")
	c.RunE = func(_ *cobra.Command, files []string) error { return f.format(s, files) }
	return c
}

// format formats all files and returns the problems of all of them as one error.
func (f formatFlags) format(s stdio, files []string) error {
	if f.write && (f.diff || f.check) {
		return usage("fmt writes with -w, or shows with -d and --check, and not both")
	}
	var problems diag.List
	changed := 0
	files, err := below(files)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file == "-" && f.write {
			return usage("standard input cannot be written to; leave -w out")
		}
		differs, err := f.one(s, file)
		var wrong diag.List
		switch {
		case errors.As(err, &wrong):
			problems = append(problems, wrong...)
		case err != nil:
			return err
		case differs:
			changed++
		}
	}
	switch {
	case len(problems) > 0:
		return problems
	case f.check && changed > 0:
		return &exitError{exitFailed, fmt.Errorf("%s not formatted; petrigate fmt -w does it", text.Subject(changed, "file", "is", "are"))}
	}
	return nil
}

// one formats one file and reports whether its canonical form differs.
func (f formatFlags) one(s stdio, file string) (bool, error) {
	src, err := readRules(s, file)
	if err != nil {
		return false, err
	}
	out, err := rules.Format(src)
	if err != nil {
		return false, ruleProblems(file, src)
	}
	differs := !bytes.Equal(src, out)
	switch {
	case f.write && differs:
		err = textfile.Replace(file, out)
	case f.write:
	case f.diff:
		_, err = s.out.Write(textfile.Diff(file, src, file+" (formatted)", out))
	case f.check && differs:
		_, err = fmt.Fprintln(s.out, file)
	case !f.check:
		_, err = s.out.Write(out)
	}
	return differs, err
}

func readRules(s stdio, file string) ([]byte, error) {
	if file == "-" {
		src, err := io.ReadAll(s.in)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return src, nil
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, text.Innermost(err))
	}
	return src, nil
}

// ruleProblems returns the syntax errors of a text of rules.
func ruleProblems(file string, src []byte) diag.List {
	var problems diag.List
	_, errs := rules.Parse(file, src)
	for _, e := range errs {
		problems = append(problems, policy.RuleProblem(e))
	}
	return problems
}
