package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A lack is the reason why the success of a script does not prove that one of its commands ran and
// succeeded.
type lack uint8

const (
	certain     lack = iota // it does
	followed                // something else decides, behind ; or a new line
	piped                   // a later command of the pipe decides
	alternative             // || is in front of it, or behind it
	background              // & is behind it
	negated                 // ! is in front of it
	conditional             // it is in a condition, a loop or a function
	substituted             // it is in $(...)
	started                 // the program that runs it may succeed without it
	unrun                   // the shell that reads it runs nothing
	ended                   // the script may end, or leave the loop, before it
)

// flow is the control flow around the command that is read now.
type flow struct {
	lack     lack
	errexit  bool // set -e
	pipefail bool // set -o pipefail
	inIf     int  // conditions around it, under which set changes nothing for certain
	inChain  int  // && in front of it
	isApart  int  // processes of their own around it
	gone     bool // something before it may have ended the script with success
	orRight  bool // it is the right side of ||

	redirected int // redirections around it that may fail

	perhaps *bool // a function or a trap may set them
}

// exits reports whether a command that fails ends the script.
func (f *flow) exits() bool { return f.errexit && !*f.perhaps }

// failsPipes reports whether a command of a pipe that fails makes all of it fail.
func (f *flow) failsPipes() bool { return f.pipefail && !*f.perhaps }

// because makes w the lack of what follows, unless there is one, and returns the one before.
func (f *flow) because(w lack) (before lack) {
	if before = f.lack; before == certain {
		f.lack = w
	}
	return before
}

// maybe is because for commands that are run under a condition.
func (f *flow) maybe(w lack) func() {
	before := f.because(w)
	f.inIf++
	return func() { f.inIf--; f.lack = before }
}

// apart begins what runs in a process of its own.
func (f *flow) apart() func() {
	errexit, pipefail := f.errexit, f.pipefail
	f.isApart++
	return func() { f.isApart--; f.errexit, f.pipefail = errexit, pipefail }
}

// substitution begins what runs in $(...).
func (f *flow) substitution() func() {
	before, leave := f.because(substituted), f.apart()
	return func() { leave(); f.lack = before }
}

// negated begins a statement that may have ! in front or & behind.
func (f *flow) negated(s *syntax.Stmt) func() {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		before, leave := f.because(background), f.apart()
		return func() { leave(); f.lack = before }
	case s.Negated:
		return f.maybe(negated)
	}
	return nothing
}

func nothing() {}

func isPipe(b *syntax.BinaryCmd) bool { return b.Op == syntax.Pipe || b.Op == syntax.PipeAll }

// element begins an element of a list or a pipe: number 0 is in front of all, and number n the
// right side of list[n-1]. Pass the results to leave at its end.
func (f *flow) element(list []*syntax.BinaryCmd, n int, s *syntax.Stmt) (before flow, apart bool) {
	before = *f
	if len(list) == 0 {
		return before, false
	}
	lacks := func(w lack) {
		if f.lack == certain {
			f.lack = w
		}
	}
	behind := list[n:]
	if n > 0 && list[n-1].Op == syntax.OrStmt {
		f.orRight = true
		f.inIf++
		lacks(alternative)
	} else if n > 0 && !isPipe(list[n-1]) {
		f.inChain++
	}
	if apart = n > 0 && isPipe(list[n-1]) || len(behind) > 0 && isPipe(behind[0]); apart {
		f.isApart++
	}
	if slices.ContainsFunc(behind, isPipe) && !f.failsPipes() {
		lacks(piped)
	}
	if slices.ContainsFunc(behind, func(b *syntax.BinaryCmd) bool { return b.Op == syntax.OrStmt && !fails(b.Y) }) {
		lacks(alternative)
	}
	if _, simple := s.Cmd.(*syntax.CallExpr); !simple && len(behind) > 0 && !isPipe(behind[0]) {
		f.inIf++ // set -e has no effect in it
	}
	return before, apart
}

// leave ends an element. What it has set holds behind it, unless it was a process of its own.
func (f *flow) leave(before flow, apart bool) {
	before.gone = f.gone
	if !apart {
		before.errexit, before.pipefail = f.errexit, f.pipefail
	}
	*f = before
}

// chained ends a list: what its later elements have set holds within it alone, for certain.
// The first one left the options so.
func (f *flow) chained(errexit, pipefail bool) {
	if f.inChain == 0 {
		f.errexit, f.pipefail = f.errexit && errexit, f.pipefail && pipefail
	}
}

// fails reports whether a statement surely ends the script, or itself, with a failure: exit 1.
func fails(s *syntax.Stmt) bool {
	if s.Background || s.Negated {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.Block:
		return len(c.Stmts) > 0 && fails(c.Stmts[len(c.Stmts)-1])
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 {
			return false
		}
		switch c.Args[0].Lit() {
		case "false":
			return true
		case "exit", "return":
			return len(c.Args) == 1 || len(c.Args) == 2 && failure(c.Args[1].Lit())
		}
	}
	return false
}

// failure reports whether a text is a status other than 0.
func failure(status string) bool {
	return status != "" && len(status) < 4 && isDigits(status) && status != "0" && status != "00" && status != "000" && status != "256"
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// endsScript reports whether a statement that fails ends the script under set -e, whatever in it failed.
func endsScript(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.Subshell, *syntax.TimeClause, *syntax.DeclClause:
		return true
	case *syntax.BinaryCmd:
		return isPipe(c) && endsScript(c.X) && endsScript(c.Y)
	}
	return false
}

// setOptions reads set -e and set -o pipefail.
func (f *flow) setOptions(args []arg) {
	if f.inIf > 0 || f.redirected > 0 {
		f.errexit, f.pipefail = false, false // whatever it sets, perhaps it does not
		return
	}
	value := false // of -o
	for i, a := range args {
		if value {
			value = false
			continue
		}
		on := strings.HasPrefix(a.text, "-")
		if a.kind != literal || len(a.text) < 2 || a.text == "--" || !on && a.text[0] != '+' {
			return // the others are operands
		}
		for k := 1; k < len(a.text); k++ {
			switch a.text[k] {
			case 'e':
				f.errexit = on
			case 'o':
				if value = i+1 < len(args); value && args[i+1].kind == literal {
					f.option(args[i+1].text, on)
				}
			}
		}
	}
}

// changesEnd matches trap actions that could change the exit status of the script.
var changesEnd = regexp.MustCompile(`exit|exec|return|kill|eval|set|[.]|source|\$`)

func (f *flow) option(name string, on bool) {
	switch name {
	case "errexit":
		f.errexit = on
	case "pipefail":
		f.pipefail = on
	}
}

// ends notes a builtin that may end the script, or a part of it, with success.
func (f *flow) ends(name string, args []arg) {
	switch name {
	case "exit", "return":
		if len(args) == 1 && args[0].kind == literal && failure(args[0].text) || len(args) == 0 && f.orRight {
			return
		}
	case "exec":
		if len(args) == 0 {
			return
		}
	case "trap":
		if len(args) > 0 && args[0].kind == literal && !changesEnd.MatchString(args[0].text) {
			return
		}
	case "logout", "suspend":
	default:
		return
	}
	f.gone = true
}

// straight reports whether the command that is read now runs exactly once, in the script's own shell.
func (f *flow) straight() bool {
	return f.inIf == 0 && f.inChain == 0 && f.isApart == 0 && !f.orRight && f.redirected == 0
}
