package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
	"github.com/petrigate/petrigate/rules"
)

// formatFlags holds the flags of petrigate fmt. They determine what happens to the formatted text.
type formatFlags struct{ write, diff, check bool }

func newFmt(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "fmt (FILE.rules | FOLDER)...",
		Short: "Format files of rules",
		Long: "fmt prints files of rules in canonical form: single spaces in statements, at most one blank line between them,\n" +
			"and comments of adjacent statements aligned. It preserves every comment and the meaning of the rules. A folder\n" +
			"stands for all *.rules files in it and below it, - for standard input. A file with errors is left unchanged,\n" +
			"and fmt exits with code 3.",
		Args: cobra.MinimumNArgs(1),
	}
	var f formatFlags
	c.Flags().BoolVarP(&f.write, "write", "w", false, "write the files that change, and print nothing")
	c.Flags().BoolVarP(&f.diff, "diff", "d", false, "print the changes as a diff")
	c.Flags().BoolVar(&f.check, "check", false, "list the files that would change, and exit with code 1 if there are any")
	c.RunE = func(_ *cobra.Command, files []string) error { return f.format(s, files) }
	return c
}

// format formats all files. It combines the problems in all files into a single error.
func (f formatFlags) format(s stdio, files []string) error {
	if f.write && (f.diff || f.check) {
		return usage("-w cannot be combined with -d or --check")
	}
	var problems diag.List
	changed := 0
	files, err := expandDirectories(files)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file == "-" && f.write {
			return usage("-w cannot write to standard input")
		}
		differs, err := f.formatFile(s, file)
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
		return &exitError{exitFailed, fmt.Errorf("%s not formatted; run petrigate fmt -w", text.Subject(changed, "file", "is", "are"))}
	}
	return nil
}

// formatFile formats a single file as the flags specify, and reports whether its text changes.
func (f formatFlags) formatFile(s stdio, file string) (bool, error) {
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

// ruleProblems returns the syntax errors in the text of a rules file.
func ruleProblems(file string, src []byte) diag.List {
	_, errs := rules.Parse(file, src)
	return list.Map(errs, policy.RuleProblem)
}
