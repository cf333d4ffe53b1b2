package shell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A reader walks through the statements and words of a script and collects commands, doubts and
// touched files. How a program or a builtin interprets its arguments is in a function of its own:
// readGit, readSed, readXargs.
type reader struct {
	commands    []command
	doubts      []doubt
	opaque      bool // a doubt concerns all commands
	strict      bool
	sideEffects bool
	defined     set // functions that the script defines
	mentions    mentions
	touched     []file

	outermost string       // the script passed to Read
	at        *syntax.Stmt // statement of the outermost script that is being read
	owner     int          // index of the command whose arguments are being read; -1: none
	flow      flow
	settling  bool // the whole script has been read

	depth     int  // nesting depth of nodes
	texts     int  // nesting depth of scripts
	budget    int  // bytes of script text that may still be parsed
	posix     bool // the shell that runs this part does not have bash's extensions
	tentative bool // commands found now are only possible

	// covered: possibly is reading one suffix after another of an argument list as a command, and
	// this is one of them.
	covered bool
	// recognized: a table has the program being read, though its arguments may still name a
	// command.
	recognized bool
	argCount   int // arguments of all commands; arguments of wrappers count again for the wrapped command
	loopBodies int // loop bodies read so far, once per word
	work       int // pieces parsed so far, including nested scripts

	vars       variables
	files      files
	gitAliases map[string]string // aliases of git that the script defines
	aliases    map[string][]string
	functions  map[string][]*syntax.Stmt // bodies of the functions that use their arguments
	body       *body                     // body of a function or a trap that is being read; nil: none
	calling    map[string][]arg          // arguments of the function calls that are being read, by function name
	calls      int                       // function bodies read for calls so far
	called     int                       // bytes of those bodies

	source      string // text of the innermost script
	input       bool   // standard input comes from the script itself: a pipe, a redirection or a here document
	textInput   bool   // standard input is a here document or a here string
	pipe        pipeline
	outerRedirs []*syntax.Redirect // redirections of the calling program: ssh host 'bash -s' < x.sh
	piped       bool               // standard input is a pipe
	expanding   bool               // within ${...} in double quotes, which quotedExpansion has checked as a whole
}

// enter descends one node and reports whether it may; false means too deep. Call leave after every
// enter that returns true.
func (r *reader) enter() bool {
	if r.depth >= maxDepth {
		r.doubtAll("too deeply nested")
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// script parses text as a script and reads it.
func (r *reader) script(text string) {
	if why := unreadable(text); why != "" {
		r.doubtAll(why)
		return
	}
	work := pieces(text)
	if work > maxPieces {
		r.doubtAll("a script of too many words")
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
		r.doubtAll("a line that is broken behind a dollar sign") // "$\ (rm x)" is a substitution
	}
	covered, source := r.covered, r.source
	r.texts, r.covered, r.source = r.texts+1, false, text
	r.stmts(file.Stmts)
	r.texts, r.covered, r.source = r.texts-1, covered, source
}

// parse parses a script. It reports a panic of the parser as an error.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = syntax.ParseError{Text: "the parser gave up"}
		}
	}()
	for range maxCommentRounds {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
		if err != nil {
			return nil, err
		}
		ended := endComments(file, text)
		if ended == text {
			return file, nil
		}
		text = ended
	}
	return nil, syntax.ParseError{Text: "comments that end with a backslash hide others"}
}

// maxCommentRounds bounds the rounds of endComments.
const maxCommentRounds = 8

// endComments replaces each backslash that ends a comment line by a space. A shell ends the comment
// at the newline, whereas the parser joins the next line to the command before the comment.
func endComments(file *syntax.File, text string) string {
	if !strings.Contains(text, "#") || !strings.Contains(text, "\\\n") {
		return text
	}
	ended := []byte(text)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.Comment); is && strings.HasSuffix(c.Text, "\\\n") {
			begin := int(c.Hash.Offset()) //nolint:gosec // within the text
			if i := strings.Index(text[begin:], "\\\n"); i >= 0 {
				ended[begin+i] = ' '
			}
		}
		return true
	})
	return string(ended)
}

// unreadable returns the reason why a text must not be parsed, or "". Shells disagree about control
// characters and unusual spaces, and so do people.
func unreadable(text string) string {
	if len(text) > maxScript {
		return "a script that is too long"
	}
	if !utf8.ValidString(text) {
		return "a script that is not UTF-8"
	}
	for _, c := range text {
		switch {
		case c == '\n' || c == '\t' || ' ' <= c && c < 0x7f:
		case c >= utf8.RuneSelf && unicode.IsPrint(c): // the common case, checked first
		case c < utf8.RuneSelf, unicode.Is(unicode.C, c), unicode.IsSpace(c), unicode.Is(unicode.Z, c):
			return "a control character or an odd space"
		}
	}
	if weight(text) > maxWeight {
		return "a script that may be nested too deeply"
	}
	return ""
}

// weight returns an upper bound for the parser's recursion on a text, in units of roughly three
// kilobytes of stack. The parser has no bound of its own.
func weight(text string) int {
	if len(text) < 1<<10 {
		return 0
	}
	n := 3*strings.Count(text, "(") + 2*strings.Count(text, "{") + 2*strings.Count(text, "[")
	for _, op := range []string{"|", "&", "!", "?", "~", "=", "+", "-", ":"} {
		n += strings.Count(text, op)
	}
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "time", "coproc", "function"} {
		n += 2 * strings.Count(text, word)
	}
	return n
}

// pieces returns an upper bound for the parser's work: the words of a text, plus the characters
// that can split a word into parts.
func pieces(text string) int {
	n, before := 0, 1
	for i := range len(text) {
		kind := kinds[text[i]]
		n += int(kind>>1) + before&^int(kind)
		before = int(kind & 1)
	}
	return n
}

// kinds maps a byte to 1 if it separates words, and to 2 if it can split a word.
var kinds = func() (k [256]byte) {
	for _, c := range []byte(" \t\n") {
		k[c] = 1
	}
	for _, c := range []byte(";&|<>()$`'\"{}[") {
		k[c] = 2
	}
	return k
}()

// stmts reads statements.
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

// stmt reads a statement. Lists and pipelines are left-recursive and can be long, so stmt takes
// them apart in a loop.
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
	elements := 0 // elements of the pipeline so far; negative: not all are simple commands
	for i, b := range rest {
		piped := isPipe(b)
		switch {
		case !piped:
			at, elements = len(r.commands), 0
		case i == 0 && isSimple(s), i > 0 && isSimple(rest[i-1].Y):
			elements++
		default:
			elements = -maxDepth
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

// setStatement records s as the statement being read, if it belongs to the outermost script.
func (r *reader) setStatement(s *syntax.Stmt) {
	if r.texts == 1 {
		r.at = s
	}
}

// command reads the command of a statement.
func (r *reader) command(s *syntax.Stmt) {
	if call, ok := s.Cmd.(*syntax.CallExpr); s.Cmd != nil && !ok {
		defer func(before bool) { r.input = before }(r.input)
		r.input = r.input || setsInput(s.Redirs)
		defer func(before bool) { r.piped = before }(r.piped)
		r.piped = r.piped && !setsInput(s.Redirs)
	} else if ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec" && setsInput(s.Redirs) {
		r.input = true // from here on
	}
	if _, own := s.Cmd.(*syntax.Subshell); !own && slices.ContainsFunc(s.Redirs, mayFail) {
		r.flow.redirected++
		defer func() { r.flow.redirected-- }()
	}
	switch c := s.Cmd.(type) {
	case nil: // redirections alone
	case *syntax.CallExpr:
		r.call(c, s.Redirs)
	case *syntax.Subshell:
		leave := r.flow.enterSubprocess()
		r.stmts(c.Stmts)
		leave()
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	case *syntax.DeclClause:
		r.declare(c)
	case *syntax.LetClause:
		r.doubtPosix()
		r.vars.forget()
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
			bindBranches(r, s.Cmd)
		}
	}
}

// compoundCommand reads a command that runs other statements conditionally or repeatedly.
func (r *reader) compoundCommand(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond)
			r.stmts(c.Then)
		}
	case *syntax.WhileClause:
		r.vars.lose(r.vars.effectsOf(c))
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
		readFunction(r, c)
	case *syntax.CoprocClause:
		r.doubtAll("a coprocess") // the parser splits it differently than bash
		r.withInput(true, func() { r.stmt(c.Stmt) })
	default:
		r.doubtAll("a statement that bash does not know")
	}
}

// doubtPosix adds a doubt if a shell other than bash runs this part, since that shell reads the
// construct differently.
func (r *reader) doubtPosix() {
	if r.posix {
		r.doubtAll("a form that is bash's alone, given to another shell")
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
			r.sideEffects = true // it holds for read alone, which splits a line at it
			r.word(a.Value)
			continue
		}
		value := r.assign(a)
		if a.Name == nil {
			continue
		}
		if len(c.Args) > 0 {
			r.vars.unbind(a.Name.Value) // the assignment holds for this command only
			r.given(a.Name.Value, value)
		}
	}
	if len(c.Args) > 0 {
		if l, ok := c.Args[0].Parts[0].(*syntax.Lit); ok && strings.Contains(l.Value, "=") {
			r.doubtAll("a command word that may be an assignment") // after coproc, say
		}
		defer func(before bool) { r.textInput = before }(r.textInput)
		r.textInput = r.textInput || slices.ContainsFunc(redirs, givesText)
		callEach(r, r.vars.commands(c.Args[0]), c.Args, redirs)
	}
}

// callEach reads a command once for each expansion of its command word in lists. If lists is empty,
// it reads the words as they stand.
func callEach(r *reader, lists [][]arg, words []*syntax.Word, redirs []*syntax.Redirect) {
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

// redirects reads the redirections of a statement: the commands in their words, and the files that
// they read and write.
func (r *reader) redirects(list []*syntax.Redirect) {
	for _, rd := range list {
		if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
			r.assigned(strings.Trim(rd.N.Value, "{}"), arg{text: "0"})
		}
		if rd.Hdoc != nil {
			r.files.texts = append(r.files.texts, r.hereDoc(rd.Hdoc))
			if r.endsElsewhere(rd) {
				r.doubtAll("a here document whose end is not known")
			}
		}
		if rd.Word == nil {
			continue
		}
		target := r.word(rd.Word)
		if rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc || rd.Op == syntax.WordHdoc {
			r.files.texts = append(r.files.texts, target)
			continue
		}
		if rd.Op == syntax.RdrIn {
			r.touch(Reads, target)
		}
		if !harmless(rd.Op, target) {
			r.sideEffects = true
			r.files.write(target)
			if rd.Op != syntax.RdrIn && rd.Op != syntax.DplIn {
				r.touch(Writes, target)
			}
		}
	}
}

// mayFail reports whether a redirection opens a file. If that fails, the shell does not run the
// command.
func mayFail(rd *syntax.Redirect) bool {
	return rd.Word != nil && rd.Hdoc == nil && rd.Op != syntax.WordHdoc && rd.Op != syntax.DplIn && rd.Op != syntax.DplOut && rd.Word.Lit() != "/dev/null"
}

// harmless reports whether a redirection changes nothing outside the script.
func harmless(op syntax.RedirOperator, target arg) bool {
	copies := op == syntax.DplIn || op == syntax.DplOut
	return target.kind == literal && (copies && strings.Trim(target.text, "-0123456789") == "" ||
		!copies && target.text == "/dev/null" || op == syntax.RdrIn && !isDevice(target.text))
}
