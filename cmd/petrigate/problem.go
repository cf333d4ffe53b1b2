package main

import (
	"errors"
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
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
func printProblems(w io.Writer, problems policy.Problems) { problems.Print(w, newInk(w)) }
