package policytest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// A Suite is the set of files of a test run: files of tests (*_test.yaml) and files of cases
// (*.jsonl).
type Suite struct {
	Loader Loader
	Name   *regexp.Regexp // pattern that matches the names of the tests to run

	// Problems extracts the problems from an error that occurred while loading a file. If it cannot
	// extract any, it returns the error unchanged.
	Problems func(err error) (diag.List, error)

	files    []suiteFile
	problems diag.List
}

// A suiteFile is a file that contains either tests or cases.
type suiteFile struct {
	name   string
	file   *File
	policy *Policy
	cases  []TestResult
}

// Load reads all files denoted by paths, so that all problems can be reported together.
func (s *Suite) Load(paths []string) error {
	var names []string
	for _, path := range paths {
		found, err := Find(path)
		if err != nil {
			return err
		}
		names = list.Add(names, found...)
	}
	for _, name := range names {
		f, err := s.open(name)
		if err := s.collectProblems(err); err != nil {
			return err
		}
		s.files = append(s.files, f)
	}
	return nil
}

func (s *Suite) open(name string) (f suiteFile, err error) {
	f.name = name
	if filepath.Ext(name) == ".jsonl" {
		in, err := os.Open(name)
		if err != nil {
			return f, unread(name, err)
		}
		defer func() { _ = in.Close() }()
		f.cases, err = RunCases(in)
		return f, err
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return f, unread(name, err)
	}
	if f.file, err = Parse(name, src); err != nil {
		return f, err
	}
	f.policy, err = s.Loader.Load(f.file)
	return f, err
}

// collectProblems records the problems contained in err. If err contains no problems,
// collectProblems returns it.
func (s *Suite) collectProblems(err error) error {
	found, err := s.Problems(err)
	if err != nil {
		return err
	}
	s.problems = list.Add(s.problems, found...) // several files may have the same policy
	return nil
}

// Run runs the selected tests. If loading found problems, it runs none.
func (s *Suite) Run(ctx context.Context) *Report {
	report := newReport(s.problems)
	if len(s.problems) > 0 {
		return report
	}
	for _, f := range s.files {
		out := FileResult{File: f.name, Tests: []TestResult{}}
		out.Tests = append(out.Tests, list.Filter(f.cases, func(c TestResult) bool { return s.Name.MatchString(c.Name) })...)
		if f.file != nil {
			for i := range f.file.Tests {
				if t := &f.file.Tests[i]; s.Name.MatchString(t.Name) && ctx.Err() == nil {
					out.Tests = append(out.Tests, f.policy.Run(t))
				}
			}
		}
		report.Add(out)
	}
	if s.Loader.Cover {
		report.Coverage = s.Loader.Coverage()
	}
	return report
}

func unread(name string, err error) error {
	return fmt.Errorf("reading the tests %s: %w", name, text.Innermost(err))
}
