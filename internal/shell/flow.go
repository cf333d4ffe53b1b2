package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A lack is the reason why exit status 0 of a script does not prove that one of its commands ran
// and succeeded.
type lack uint8

const (
	certain     lack = iota // the success of the script proves it
	followed                // a later command decides, after ; or a newline
	piped                   // a later command of the pipe decides
	alternative             // the command is an operand of ||
	background              // the command runs in the background
	negated                 // the command is negated with !
	conditional             // the command is in a condition, a loop or a function
	substituted             // the command is in $(...)
	started                 // the program that runs the command may succeed without it
	unrun                   // the shell only parses the command, as with -n
	ended                   // the script or loop may end before the command
)

// flow is the control flow that surrounds the command being read.
type flow struct {
	lack     lack
	errexit  bool // set -e
	pipefail bool // set -o pipefail
	inIf     int  // conditions around the command, within which set has no certain effect
	inChain  int  // number of preceding && operators
	isApart  int  // number of surrounding subprocesses
	gone     bool // an earlier command may have ended the script with success
	orRight  bool // the command is the right operand of ||

	redirected int // surrounding redirections that may fail

	perhaps *bool // a function or a trap may set errexit or pipefail
}

// exits reports whether a failing command ends the script (set -e).
func (f *flow) exits() bool { return f.errexit && !*f.perhaps }

// failsPipes reports whether a failing command makes its whole pipe fail (set -o pipefail).
func (f *flow) failsPipes() bool { return f.pipefail && !*f.perhaps }

// because sets the lack of the following commands to w, unless it is already set. It returns the
// previous lack, which the caller restores.
func (f *flow) because(w lack) (before lack) {
	if before = f.lack; before == certain {
		f.lack = w
	}
	return before
}

// maybe is like because, for commands that run conditionally. Call the returned function at their
// end.
func (f *flow) maybe(w lack) func() {
	before := f.because(w)
	f.inIf++
	return func() { f.inIf--; f.lack = before }
}

// apart enters a subprocess. Call the returned function at its end.
func (f *flow) apart() func() {
	errexit, pipefail := f.errexit, f.pipefail
	f.isApart++
	return func() { f.isApart--; f.errexit, f.pipefail = errexit, pipefail }
}

// substitution enters $(...). Call the returned function at its end.
func (f *flow) substitution() func() {
	before, leave := f.because(substituted), f.apart()
	return func() { leave(); f.lack = before }
}

// negated enters a statement that may be negated with ! or run in the background with &. Call the
// returned function at its end.
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

// element enters an element of a list or a pipe: n is 0 for the first one, otherwise the element is
// the right operand of list[n-1]. Pass the results to leave at its end.
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
		f.inIf++ // set -e has no effect within it
	}
	return before, apart
}

// leave ends an element. The options that it set stay in effect, unless it ran in a subprocess.
func (f *flow) leave(before flow, apart bool) {
	before.gone = f.gone
	if !apart {
		before.errexit, before.pipefail = f.errexit, f.pipefail
	}
	*f = before
}

// chained ends a list. Options that a later element set count only within the list, since it is not
// certain that the element ran; errexit and pipefail are the options after the first element.
func (f *flow) chained(errexit, pipefail bool) {
	if f.inChain == 0 {
		f.errexit, f.pipefail = f.errexit && errexit, f.pipefail && pipefail
	}
}

// fails reports whether a statement certainly fails or ends the script with a failure, as exit 1
// does.
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

// failure reports whether a text is an exit status other than 0.
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

// endsScript reports whether any failure within a statement ends the script under set -e.
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

// setOptions applies set -e and set -o pipefail.
func (f *flow) setOptions(args []arg) {
	if f.inIf > 0 || f.redirected > 0 {
		f.errexit, f.pipefail = false, false // the options may be set or not: assume not
		return
	}
	value := false // the argument is the value of -o
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

// ends records a builtin that may end the script, or a part of it, with success.
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

// straight reports whether the command being read runs exactly once, in the script's own shell.
func (f *flow) straight() bool {
	return f.inIf == 0 && f.inChain == 0 && f.isApart == 0 && !f.orRight && f.redirected == 0
}
