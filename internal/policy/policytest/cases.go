package policytest

import (
	"fmt"
	"io"
)

// RunCases runs the cases read from r as tests. Each case contains its own policy; see [Eval].
func RunCases(r io.Reader) ([]TestResult, error) {
	var cases []TestResult
	err := eachLine(r, func(number int, line []byte) error {
		answer, expect, _ := evalLine(line)
		c := TestResult{Name: answer.Name, Line: number, Result: "pass"}
		d := compare(marshal(answer), expect)
		switch {
		case d != nil:
			c.Result, c.Failure = "fail", &Failure{Got: fmt.Sprintf("%s is %s, expected %s", d.Path, d.Got, d.Want)}
		case expect != nil:
		case len(answer.Errors) > 0:
			c.Result, c.Failure = "fail", &Failure{Got: answer.Errors[0].Message}
		default:
			c.Result = "unchecked"
		}
		cases = append(cases, c)
		return nil
	})
	return cases, err
}
