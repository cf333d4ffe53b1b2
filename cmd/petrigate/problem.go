package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// configProblems turns the errors of a configuration into problems. What is
// not of a configuration comes back as it is.
func configProblems(err error) (policy.Problems, error) {
	var list config.ErrorList
	var one *config.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = config.ErrorList{one}
	default:
		return nil, err
	}
	var problems policy.Problems
	for _, e := range list {
		problems = append(problems, configProblem(policy.Error, codeConfig, e))
	}
	return problems, nil
}

func configWarnings(c *config.Config) policy.Problems {
	var problems policy.Problems
	for _, w := range c.Warnings {
		problems = append(problems, configProblem(policy.Warning, codeDoubt, w))
	}
	return problems
}

func configProblem(severity policy.Severity, code rules.Code, e *config.Error) policy.Problem {
	return policy.Problem{
		Severity: severity, Code: code, File: e.File, Line: e.Line, Column: e.Column,
		Message: e.Msg, Hint: e.Hint, Excerpt: e.Excerpt,
	}
}

// printProblems writes each problem with its source line.
func printProblems(w io.Writer, problems policy.Problems) {
	ink := newInk(w)
	for _, p := range problems {
		style := text.Yellow
		switch p.Severity {
		case policy.Error:
			style = text.Red
		case policy.Note:
			style = text.Cyan
		}
		message := p.Message
		if p.Net != "" {
			message = fmt.Sprintf("net %q: %s", p.Net, message)
		}
		_, _ = fmt.Fprintf(w, "%s: %s: %s\n", ink.In(text.Bold, location(p)), ink.In(style, fmt.Sprintf("%s[%s]", p.Severity, p.Code)), message)
		if excerpt := excerptOf(p); excerpt != "" {
			_, _ = fmt.Fprintln(w, strings.TrimRight(excerpt, "\n"))
		}
		_, _ = fmt.Fprint(w, p.Detail)
		if p.Hint != "" {
			_, _ = fmt.Fprintf(w, "  %s %s\n", ink.In(text.Cyan, "help:"), p.Hint)
		}
	}
}

func location(p policy.Problem) string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	case p.File != "":
		return p.File
	default:
		return "petrigate"
	}
}

// excerptOf is the source line with a caret. Problems of a configuration bring
// their own, with secrets masked; no other line of such a file is shown.
func excerptOf(p policy.Problem) string {
	if p.Excerpt != "" || p.Line == 0 || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(p.File)) {
		return p.Excerpt
	}
	text, err := os.ReadFile(p.File)
	lines := strings.Split(string(text), "\n")
	if err != nil || p.Line > len(lines) {
		return ""
	}
	line := []rune(strings.TrimRight(strings.TrimPrefix(lines[p.Line-1], "\ufeff"), "\r"))
	if p.Column < 1 || p.Column > len(line) || len(line) > 200 || slices.ContainsFunc(line, unicode.IsControl) {
		return ""
	}
	return "    " + string(line) + "\n    " + strings.Repeat(" ", p.Column-1) + "^"
}
