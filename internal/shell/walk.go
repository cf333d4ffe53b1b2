package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script parses text as a script and reads it.
func (r *reader) script(text string) {
	if why := unreadableReason(text); why != "" {
		r.doubtAll(why)
		return
	}
	work := pieces(text)
	if work > maxPieces {
		r.doubtAll("a script with too many words")
		return
	}
	work += piecesOfParser
	if r.budget < len(text) || r.work+work > maxWork || r.texts >= maxTexts {
		r.doubtAll("too many scripts within scripts")
		return
	}
	r.budget, r.work = r.budget-len(text), r.work+work
	file, err := parse(text)
	if err != nil {
		r.doubtAll("a script that does not parse")
		return
	}
	if strings.Contains(text, "$\\\n") {
		r.doubtAll("a line that is broken after a dollar sign") // bash joins the lines and may then find a substitution such as $(rm x)
	}
	covered, source := r.covered, r.source
	r.texts, r.covered, r.source = r.texts+1, false, text
	r.stmts(file.Stmts)
	r.texts, r.covered, r.source = r.texts-1, covered, source
}

func (r *reader) stmts(list []*syntax.Stmt) {
	defer func(before bool) { r.expanding = before }(r.expanding)
	r.expanding = false
	outer := r.flow.masking
	for i, s := range list {
		if i < len(list)-1 && outer == certain && !(r.flow.exits() && endsScript(s)) {
			r.flow.masking = followed
		}
		r.stmt(s)
		r.flow.masking = outer
	}
}

// stmt reads a statement. Lists and pipelines are left-recursive and can be long, so stmt unrolls
// them in a loop.
func (r *reader) stmt(s *syntax.Stmt) {
	if s == nil || !r.enter() {
		return
	}
	defer r.leave()
	defer func(before *syntax.Stmt) { r.at = before }(r.at)
	defer r.flow.enterNegated(s)()
	var rest []*syntax.BinaryCmd
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		r.setStatement(s)
		r.redirects(s.Redirs)
		rest, s = append(rest, b), b.X
		if s.Negated {
			break
		}
	}
	slices.Reverse(rest)
	at := len(r.commands)
	defer func(before pipeline) { r.pipe = before }(r.pipe)
	before, apart := r.flow.enterElement(rest, 0, s)
	r.element(at, func() {
		if s.Negated && len(rest) > 0 {
			r.stmt(s)
			return
		}
		r.setStatement(s)
		r.redirects(s.Redirs)
		r.command(s)
	})
	r.flow.leaveElement(before, apart)
	errexit, pipefail := r.flow.errexit, r.flow.pipefail
	elements := 0 // number of commands in the pipeline so far; negative unless all of them are simple commands without redirections
	for i, b := range rest {
		piped := isPipe(b)
		switch {
		case !piped:
			at, elements = len(r.commands), 0
		case elements >= 0 && (i == 0 && isSimple(s) || i > 0 && isSimple(rest[i-1].Y)):
			elements++
		default:
			elements = -1
		}
		r.pipe = pipeline{at, elements}
		before, apart := r.flow.enterElement(rest, i+1, b.Y)
		r.element(at, func() { r.withInput(piped, func() { r.stmt(b.Y) }) })
		r.flow.leaveElement(before, apart)
	}
	if len(rest) > 0 {
		r.flow.leaveList(errexit, pipefail)
	}
}

// command reads the simple or compound command of the statement s.
func (r *reader) command(s *syntax.Stmt) {
	if call, ok := s.Cmd.(*syntax.CallExpr); s.Cmd != nil && !ok {
		defer func(input, piped bool) { r.input, r.piped = input, piped }(r.input, r.piped)
		redirected := setsInput(s.Redirs)
		r.input, r.piped = r.input || redirected, r.piped && !redirected
	} else if ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec" && setsInput(s.Redirs) {
		r.input = true // a redirection of exec applies to the rest of the script
	}
	if _, own := s.Cmd.(*syntax.Subshell); !own && slices.ContainsFunc(s.Redirs, mayFail) {
		r.flow.redirected++
		defer func() { r.flow.redirected-- }()
	}
	switch c := s.Cmd.(type) {
	case nil: // the statement consists only of redirections
	case *syntax.CallExpr:
		r.call(c, s.Redirs)
	case *syntax.Subshell:
		defer r.flow.enterSubprocess()()
		r.stmts(c.Stmts)
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	case *syntax.DeclClause:
		r.declare(c)
	case *syntax.LetClause:
		r.doubtPosix()
		r.vars.forgetAll()
		for _, x := range c.Exprs {
			r.arithm(x)
		}
	case *syntax.ArithmCmd:
		r.doubtPosix()
		r.arithm(c.X)
	case *syntax.TestClause:
		r.doubtPosix()
		r.test(c.X)
	default:
		straight := r.flow.runsOnce()
		leave := r.flow.enterCondition(conditional)
		r.compoundCommand(s.Cmd)
		if leave(); straight {
			r.vars.bindBranches(s.Cmd)
		}
	}
}

// compoundCommand reads a command that runs other statements conditionally or in a loop.
func (r *reader) compoundCommand(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond)
			r.stmts(c.Then)
		}
	case *syntax.WhileClause:
		r.vars.forgetEffects(r.vars.effectsOf(c))
		r.files.loops = true
		r.stmts(c.Cond)
		r.stmts(c.Do)
	case *syntax.ForClause:
		r.loop(c)
	case *syntax.CaseClause:
		r.word(c.Word)
		for _, item := range c.Items {
			r.words(item.Patterns)
			r.stmts(item.Stmts)
		}
	case *syntax.FuncDecl:
		r.readFunction(c)
	case *syntax.CoprocClause:
		r.doubtAll("a coprocess") // the parser and bash may disagree about the words that form the coprocess's command
		r.withInput(true, func() { r.stmt(c.Stmt) })
	default:
		r.doubtAll("a statement that bash does not know")
	}
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	defer func(at int, given bool) {
		if r.vars.given {
			r.doubtObeyed(r.commands[at:])
		}
		r.vars.given = given
	}(len(r.commands), r.vars.given)
	r.vars.given = false
	for _, a := range c.Assigns {
		if a.Name != nil && a.Name.Value == "IFS" && a.Array == nil && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			r.sideEffects = true // the assignment applies only to read, which splits lines at the characters in IFS
			r.word(a.Value)
			continue
		}
		value := r.assign(a, r.flow.runsOnce())
		if a.Name == nil {
			continue
		}
		if len(c.Args) > 0 {
			r.vars.unbind(a.Name.Value) // the assignment applies only to this command
			r.given(a.Name.Value, value)
		}
	}
	if len(c.Args) > 0 {
		if l, ok := c.Args[0].Parts[0].(*syntax.Lit); ok && strings.Contains(l.Value, "=") {
			r.doubtAll("a command word that may be an assignment") // for example, x=y is the command word in coproc x=y
		}
		defer func(before bool) { r.textInput = before }(r.textInput)
		r.textInput = r.textInput || slices.ContainsFunc(redirs, givesText)
		r.callEach(r.vars.commands(c.Args[0]), c.Args, redirs)
	}
}

// callEach reads a simple command once for each entry of lists, that is, for each possible
// expansion of its first word. If lists is empty, callEach reads the words as written.
func (r *reader) callEach(lists [][]arg, words []*syntax.Word, redirs []*syntax.Redirect) {
	if len(lists) == 0 {
		r.run(r.words(words), redirs)
		return
	}
	if len(lists) > 1 {
		defer func(before masking) { r.flow.masking = before }(r.flow.mask(conditional))
	}
	rest := r.words(words[1:])
	for _, first := range lists {
		r.run(append(first, rest...), redirs)
	}
}

// redirects processes the redirections of a statement. It reads the command substitutions in their
// words, and records the files that the redirections read and write.
func (r *reader) redirects(list []*syntax.Redirect) {
	for _, rd := range list {
		if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
			r.assigned(strings.Trim(rd.N.Value, "{}"), arg{text: "0"})
		}
		if rd.Hdoc != nil {
			r.files.texts = append(r.files.texts, r.hereDoc(rd.Hdoc))
			if endsElsewhere(r.source, rd) {
				r.doubtAll("a here document whose end is unclear")
			}
		}
		if rd.Word == nil {
			continue
		}
		target := r.word(rd.Word)
		if givesText(rd) {
			r.files.texts = append(r.files.texts, target)
			continue
		}
		if rd.Op == syntax.RdrIn {
			r.touch(Reads, target)
		}
		if !harmless(rd.Op, target) {
			r.sideEffects = true
			r.writeFile(target)
			if rd.Op != syntax.RdrIn && rd.Op != syntax.DplIn {
				r.touch(Writes, target)
			}
		}
	}
}

// harmless reports whether a redirection to the given target changes nothing outside the script.
func harmless(op syntax.RedirOperator, target arg) bool {
	copies := op == syntax.DplIn || op == syntax.DplOut
	return target.kind == literal && (copies && strings.Trim(target.text, "-0123456789") == "" ||
		!copies && target.text == "/dev/null" || op == syntax.RdrIn && !isDevice(target.text))
}

// declare interprets declare, local, export, readonly and typeset.
func (r *reader) declare(d *syntax.DeclClause) {
	var args, assigned []arg
	for _, a := range d.Args {
		switch {
		case !a.Naked:
			value := r.assign(a, r.flow.runsOnce())
			if d.Variant.Value == "local" && a.Name != nil {
				r.vars.unbind(a.Name.Value) // outside a function, the builtin fails and sets nothing
			}
			if a.Array == nil && a.Name != nil {
				assigned = append(assigned, arg{kind: value.kind, text: a.Name.Value + "=" + value.text, tail: value.tail})
				r.given(a.Name.Value, value)
			}
		case a.Value != nil:
			args = r.expand(args, a.Value)
		case a.Name != nil && a.Index == nil:
			args = append(args, arg{text: a.Name.Value})
		default:
			r.doubtAll("a declaration of an array element")
		}
	}
	c := command{name: d.Variant.Value, args: append(args[:len(args):len(args)], assigned...), by: r.owner, masking: r.flow.masking}
	c.from, c.to = r.span()
	r.commands = append(r.commands, c)
	r.declareArgs(d.Variant.Value, assigned, args)
	r.vars.attributes(d)
}

// tentativeScript implements [nestedReader].
func (r *reader) tentativeScript(text string) {
	defer func(before bool) { r.tentative = before }(r.tentative)
	defer r.otherShell()()
	r.flow.mask(started)
	r.tentative = true
	r.script(text)
}

// substitution implements [nestedReader].
func (r *reader) substitution(list []*syntax.Stmt, fed bool) {
	defer r.flow.enterMasked(substituted)()
	r.withInput(fed, func() { r.stmts(list) })
}

// otherShell enters a part of the script that runs in another process. Variables and options set
// there are lost when the process ends. The caller must call leave at the end of the part.
func (r *reader) otherShell() (leave func()) {
	flow, before := r.flow, r.vars.values
	r.vars.values = before.clone()
	r.vars.lost = nil
	return func() { r.flow, r.vars.values = flow, before }
}

// maxLoopBodies limits the number of loop bodies read. A body counts once for each word of its
// loop.
const maxLoopBodies = 64

// loop interprets for and select loops. It reads the body of a for loop once per word if the loop
// has only a few words.
func (r *reader) loop(c *syntax.ForClause) {
	r.files.loops = true
	changed := r.vars.effectsOf(c)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		value, values := arg{text: "0"}, []arg(nil)
		for _, w := range l.Items {
			for _, a := range r.expand(nil, w) {
				values = append(values, a)
				if !isInteger(a) && !isCount(w) && !(isIndices(w) && !r.strict && !keyed.MatchString(r.outermost)) {
					value = a
				}
			}
		}
		if c.Select || !l.InPos.IsValid() {
			value, values = arg{kind: anything}, nil
		}
		r.vars.forgetEffects(changed)
		r.assigned(l.Name.Value, value)
		if r.loopBodies += len(values); len(values) > 0 && r.loopBodies <= maxLoopBodies && r.vars.mayBind(l.Name.Value) {
			for _, v := range values {
				r.vars.forgetEffects(changed)
				if v.kind == spread {
					v.kind = single // in each iteration, the variable is a single word
				}
				if r.vars.mayBind(l.Name.Value) { // false if the body has made the variable's value uncertain, for example by defining a function that may set it
					r.vars.bind(l.Name.Value, v)
				}
				r.stmts(c.Do)
			}
			r.vars.forgetEffects(changed)
			return
		}
	case *syntax.CStyleLoop:
		r.vars.forgetEffects(changed)
		r.arithm(l.Init)
		r.arithm(l.Cond)
		r.arithm(l.Post)
	}
	r.stmts(c.Do)
	r.vars.forgetEffects(changed)
}

// isCount reports whether the word w is a brace expansion that yields only numbers, such as {1..9}.
func isCount(w *syntax.Word) bool {
	text := w.Lit()
	return strings.HasPrefix(text, "{") && strings.Trim(text, "{}.-0123456789") == ""
}

// keyed matches scripts that may declare an associative array with the option -A.
var keyed = regexp.MustCompile(`[-+][a-zA-Z]*A`)

// isIndices reports whether the word w expands to the indexes of an array: "${!x[@]}". Indexes are
// numbers unless the array is declared with -A.
func isIndices(w *syntax.Word) bool {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && p.Excl && p.Names == 0 && (lit(p.Index) == "@" || lit(p.Index) == "*") && p.Exp == nil && p.Slice == nil && p.Repl == nil
}
