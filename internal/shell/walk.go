package shell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A reader walks through the statements and words of a script and collects its
// commands. What a program or a builtin makes of its arguments is read by a
// function of its own: readGit, readSed, readXargs.
type reader struct {
	commands []command
	doubts   []doubt
	opaque   bool // one of them is about all commands
	strict   bool
	side     bool
	defined  set // functions
	mentions mentions
	touched  []file

	outermost string       // the script as it was given
	at        *syntax.Stmt // the statement of that which is read now
	owner     int          // the command whose arguments are read; -1: none
	flow      flow
	settling  bool // the whole script is read

	depth  int  // of nodes within one another
	texts  int  // of scripts within scripts
	budget int  // bytes of scripts that may yet be parsed
	posix  bool // a shell without bash's words reads this part
	loose  bool // what is found now is only possible

	// covered: the arguments that are read now are some of those of which
	// each has its turn as the beginning of a command.
	covered bool
	// recognized: a table has the program that is read now, though its
	// arguments may yet name a command.
	recognized bool
	kept       int // arguments of all commands, those of wrappers counted again
	turns      int // bodies of loops that are read for each word
	work       int // pieces of what was parsed, also in scripts within scripts

	vars       variables
	files      files
	gitAliases map[string]string // that the script defines
	aliases    map[string][]string
	functions  map[string][]*syntax.Stmt // the bodies of those that use their arguments
	body       *body                     // that is read; nil: none
	calling    map[string][]arg          // the functions whose bodies are read for a call
	calls      int                       // bodies that were read for calls
	called     int                       // bytes of these

	source    string // of the script that is read
	input     bool   // what is read gets its input from the script itself
	fedText   bool   // a here document is its input
	pipe      pipeline
	handed    []*syntax.Redirect // of the program that runs the script: ssh host 'bash -s' < x.sh
	piped     bool               // its input comes through a pipe
	expanding bool               // within ${...} in double quotes, which is looked through as a whole
}

// enter goes one node deeper; it reports whether that is too deep. Every enter
// that returns true is followed by a leave.
func (r *reader) enter() bool {
	if r.depth >= maxDepth {
		r.unsure("too deeply nested")
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// script reads text as a script.
func (r *reader) script(text string) {
	if why := unreadable(text); why != "" {
		r.unsure(why)
		return
	}
	work := pieces(text)
	if work > maxPieces {
		r.unsure("a script of too many words")
		return
	}
	work += piecesOfParser
	if r.budget < len(text) || r.work+work > maxWork || r.texts >= maxTexts {
		r.unsure("too many scripts within scripts")
		return
	}
	r.budget, r.work = r.budget-len(text), r.work+work
	file, err := parse(text)
	if err != nil {
		r.unsure("a script that does not parse")
		return
	}
	if strings.Contains(text, "$\\\n") {
		r.unsure("a line that is broken behind a dollar sign") // "$\ (rm x)" is a substitution
	}
	covered, source := r.covered, r.source
	r.texts, r.covered, r.source = r.texts+1, false, text
	r.stmts(file.Stmts)
	r.texts, r.covered, r.source = r.texts-1, covered, source
}

// parse parses a script. A panic of the parser is an error as any other.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = syntax.ParseError{Text: "the parser gave up"}
		}
	}()
	for range maxEnded {
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

// maxEnded bounds how often comments are ended, see endComments.
const maxEnded = 8

// endComments is the text without the backslashes that end a comment. A shell ends the
// comment there, and the parser goes on with the command before it.
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

// unreadable says why a text is not even parsed. Shells differ over control
// characters and odd spaces, and so do people and shells.
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
		case c >= utf8.RuneSelf && unicode.IsPrint(c): // most are
		case c < utf8.RuneSelf, unicode.Is(unicode.C, c), unicode.IsSpace(c), unicode.Is(unicode.Z, c):
			return "a control character or an odd space"
		}
	}
	if weight(text) > maxWeight {
		return "a script that may be nested too deeply"
	}
	return ""
}

// weight bounds how deep the parser can be led into a text, in units of
// roughly three kilobytes of stack. The parser has no bound of its own.
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

// pieces bounds how much there is to parse in a text: its words, wherever they
// stand, and the characters that may divide a word into parts.
func pieces(text string) int {
	n, before := 0, 1
	for i := range len(text) {
		kind := kinds[text[i]]
		n += int(kind>>1) + before&^int(kind)
		before = int(kind & 1)
	}
	return n
}

// kinds are 1 of bytes between words, and 2 of those that may divide a word.
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
	lack := r.flow.lack
	for i, s := range list {
		if i < len(list)-1 && lack == certain && !(r.flow.exits() && endsScript(s)) {
			r.flow.lack = followed
		}
		r.stmt(s)
		r.flow.lack = lack
	}
}

// stmt reads a statement. Lists and pipes lean to the left and can be long, so
// they are taken apart in a loop.
func (r *reader) stmt(s *syntax.Stmt) {
	if s == nil || !r.enter() {
		return
	}
	defer r.leave()
	defer func(before *syntax.Stmt) { r.at = before }(r.at)
	defer r.flow.negated(s)()
	var rest []*syntax.BinaryCmd
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		r.stand(s)
		r.redirects(s.Redirs)
		rest, s = append(rest, b), b.X
		if s.Negated {
			break
		}
	}
	slices.Reverse(rest)
	at := len(r.commands)
	defer func(before pipeline) { r.pipe = before }(r.pipe)
	before, apart := r.flow.element(rest, 0, s)
	r.list(at, func() {
		if s.Negated && len(rest) > 0 {
			r.stmt(s)
			return
		}
		r.stand(s)
		r.redirects(s.Redirs)
		r.command(s)
	})
	r.flow.leave(before, apart)
	errexit, pipefail := r.flow.errexit, r.flow.pipefail
	elements := 0 // of the pipe so far; -1: they are more than simple commands
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
		before, apart := r.flow.element(rest, i+1, b.Y)
		r.list(at, func() { r.fed(piped, func() { r.stmt(b.Y) }) })
		r.flow.leave(before, apart)
	}
	if len(rest) > 0 {
		r.flow.chained(errexit, pipefail)
	}
}

// stand notes the statement that is read now.
func (r *reader) stand(s *syntax.Stmt) {
	if r.texts == 1 {
		r.at = s
	}
}

// command reads what a statement runs.
func (r *reader) command(s *syntax.Stmt) {
	if call, ok := s.Cmd.(*syntax.CallExpr); s.Cmd != nil && !ok {
		defer func(before bool) { r.input = before }(r.input)
		r.input = r.input || feeds(s.Redirs)
		defer func(before bool) { r.piped = before }(r.piped)
		r.piped = r.piped && !feeds(s.Redirs)
	} else if ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec" && feeds(s.Redirs) {
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
		leave := r.flow.apart()
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
		straight := r.flow.straight()
		leave := r.flow.maybe(conditional)
		r.compoundCommand(s.Cmd)
		if leave(); straight {
			bindBranches(r, s.Cmd)
		}
	}
}

// compoundCommand reads what runs other statements under some condition, or over and over.
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
		r.unsure("a coprocess") // which the parser takes apart in another way than bash
		r.fed(true, func() { r.stmt(c.Stmt) })
	default:
		r.unsure("a statement that bash does not know")
	}
}

// doubtPosix notes a form that a plain shell reads in another way than bash.
func (r *reader) doubtPosix() {
	if r.posix {
		r.unsure("a form that is bash's alone, given to another shell")
	}
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	defer func(at int, given bool) {
		if r.vars.given {
			r.obeyed(r.commands[at:])
		}
		r.vars.given = given
	}(len(r.commands), r.vars.given)
	r.vars.given = false
	for _, a := range c.Assigns {
		if a.Name != nil && a.Name.Value == "IFS" && a.Array == nil && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			r.side = true // it holds for read alone, which splits a line by it
			r.word(a.Value)
			continue
		}
		value := r.assign(a)
		if a.Name == nil {
			continue
		}
		if len(c.Args) > 0 {
			r.vars.unbind(a.Name.Value) // it holds for the command alone
			r.given(a.Name.Value, value)
		}
	}
	if len(c.Args) > 0 {
		if l, ok := c.Args[0].Parts[0].(*syntax.Lit); ok && strings.Contains(l.Value, "=") {
			r.unsure("a command word that may be an assignment") // after coproc, say
		}
		defer func(before bool) { r.fedText = before }(r.fedText)
		r.fedText = r.fedText || slices.ContainsFunc(redirs, givesText)
		callEach(r, r.vars.commands(c.Args[0]), c.Args, redirs)
	}
}

// callEach reads a command whose command word is one of the lists; none: it is any other word.
func callEach(r *reader, lists [][]arg, words []*syntax.Word, redirs []*syntax.Redirect) {
	if len(lists) == 0 {
		r.run(r.words(words), redirs)
		return
	}
	if len(lists) > 1 {
		defer func(before lack) { r.flow.lack = before }(r.flow.because(conditional))
	}
	rest := r.words(words[1:])
	for _, first := range lists {
		r.run(append(first, rest...), redirs)
	}
}

// redirects reads the redirections of a statement for the commands in them, and
// for the files that they write.
func (r *reader) redirects(list []*syntax.Redirect) {
	for _, rd := range list {
		if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
			r.assigned(strings.Trim(rd.N.Value, "{}"), arg{text: "0"})
		}
		if rd.Hdoc != nil {
			r.files.texts = append(r.files.texts, r.hereDoc(rd.Hdoc))
			if r.endsElsewhere(rd) {
				r.unsure("a here document whose end is not known")
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
			r.side = true
			r.files.write(target)
			if rd.Op != syntax.RdrIn && rd.Op != syntax.DplIn {
				r.touch(Writes, target)
			}
		}
	}
}

// mayFail reports whether a redirection opens a file, so that the command may not be run.
func mayFail(rd *syntax.Redirect) bool {
	return rd.Word != nil && rd.Hdoc == nil && rd.Op != syntax.WordHdoc && rd.Op != syntax.DplIn && rd.Op != syntax.DplOut && rd.Word.Lit() != "/dev/null"
}

// harmless reports whether a redirection changes nothing outside the script.
func harmless(op syntax.RedirOperator, target arg) bool {
	copies := op == syntax.DplIn || op == syntax.DplOut
	return target.kind == literal && (copies && strings.Trim(target.text, "-0123456789") == "" ||
		!copies && target.text == "/dev/null" || op == syntax.RdrIn && !isDevice(target.text))
}
