package shell

import (
	"slices"
	"strings"
)

// readFind reads the commands in find's -exec and similar actions.
func readFind(args []arg, strictly bool) (p plan) {
	unknown, ends, named := 0, 0, !strictly && findsNames(args)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.kind == anything:
			p.addDoubt(strict, "an expression of find that is not literal")
			return p
		case a.matchWord("=-exec =-execdir =-ok =-okdir") != "":
			n := execEnd(args[i+1:])
			p.add(runsCommand, "", replaceMark(args[i+1:i+1+n], "{}", named && a.matchWord("=-exec =-ok") != "")...)
			i += n + 1
		case a.matchWord("=; =+") != "":
			ends++
		case a.kind != literal && a.canBe("-exec") || a.kind != literal && a.canBe("-ok"):
			unknown++
		}
	}
	if unknown > 1 || unknown == 1 && ends > 0 {
		p.addDoubt(inText, "an expression of find that is not literal", args...)
	}
	return p
}

// execEnd returns the length of the -exec command at the start of args.
func execEnd(args []arg) int {
	for i, a := range args {
		if a.kind == literal && (a.text == ";" || a.text == "+" && i > 0 && args[i-1].text == "{}") {
			return i
		}
	}
	return len(args)
}

// replaceMark returns a copy of args with an unknown part in place of each mark, such as {}. If an
// argument contains several marks, the text between them becomes unknown, too. If named is true, a
// mark at the start of an argument stands for a file name that cannot look like an option.
func replaceMark(args []arg, mark string, named bool) []arg {
	out := make([]arg, len(args))
	for i, a := range args {
		out[i] = a
		if before, after, ok := strings.Cut(a.text, mark); ok && a.kind == literal {
			if j := strings.LastIndex(after, mark); j >= 0 {
				after = after[j+len(mark):]
			}
			out[i] = arg{kind: single, text: before, tail: after, name: named && before == ""}
		}
	}
	return out
}

// xargsOptions lists the options of xargs except -i, -e and -l, whose values are always attached.
var xargsOptions = lazyOptions("0 o p r t x a= d= E= I= L= n= P= s= R= J= S= null open-tty interactive no-run-if-empty verbose exit arg-file= delimiter= max-args= max-procs= max-lines= max-chars= replace= process-slot-var= show-limits")

// readXargs reads the command run by xargs. The arguments that xargs adds are unknown.
func readXargs(args []arg, names bool) (p plan) {
	found, rest, ok := xargsOptions().splitLeading(args)
	if !ok {
		return plan{{do: addsOptions, what: "xargs with unknown options", args: args}}
	}
	input := arg{kind: anything}
	if names && !has(found, "a") && !has(found, "arg-file") {
		input = arg{kind: spread, name: true}
	}
	for _, o := range found {
		switch o.name {
		case "process-slot-var":
			p.add(addsArithmetic, "a variable whose name is not literal")
		case "I", "J", "R", "replace":
			if o.value.kind != literal || o.value.text == "" {
				p.addDoubt(inText, "a here-document delimiter that is not literal", rest...)
				return p
			}
			if len(rest) > 0 {
				p.add(runsCommand, "", append(replaceMark(rest, o.value.text, input.name), input)...)
			}
			return p
		}
	}
	if len(rest) > 0 {
		if clients[rest[0].text] {
			p.addDoubt(inText, "statements from standard input")
		}
		p.add(runsCommand, "", append(rest[:len(rest):len(rest)], input)...)
	}
	return p
}

// findsNames reports whether the file names that find prints or passes to a command cannot look
// like options. Each file name begins with a starting point, so findsNames checks the starting
// points among the arguments of find.
func findsNames(args []arg) bool {
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind == anything || a.text == "-files0-from" }) {
		return false
	}
	for _, a := range args {
		switch {
		case a.kind == literal && (begins(a.text, "-H -L -P -O") || a.text == "--"):
		case a.kind == literal && begins(a.text, "- ( ! ,"):
			return !strings.HasPrefix(a.text, "-f") || a.matchWord("=-fstype =-false =-follow =-fls") != "" // with BSD find, -f PATH adds a starting point
		case a.kind != literal && !a.name && (a.text == "" || a.text[0] == '-') && !strings.HasPrefix(a.tail, "/"):
			return false
		}
	}
	return true
}

// producers maps each program to the arguments that make it print only file names. The entry is
// empty if the program needs no such argument.
var producers = map[string]string{"find": "", "gfind": "", "fd": "", "fdfind": "", "ls": "", "git": "=ls-files", "rg": "=-l =--files =--files-with-matches =-il", "grep": "=-l =-rl =-lr =-Rl =-lR =-ril =-rli =-lrZ =-rlZ =-lZ --files-with-matches"}

// lineFilters lists the filters that output lines of their input unchanged.
var lineFilters = setOf("grep egrep fgrep sort uniq head tail tac")

// pipesNames reports whether the current command reads file names from a pipe.
func (r *reader) pipesNames() bool {
	if r.pipe.elements <= 0 || !r.commands[r.owner].filter {
		return false
	}
	n := 0
	for i := r.pipe.from; i < r.owner; i++ {
		c := &r.commands[i]
		switch {
		case isRunBy(r.commands, r.owner, i): // the command is a wrapper, such as sudo, that runs xargs
			continue
		case n == 0 && !c.producesNames(), n > 0 && (!lineFilters[c.name] || c.hasOption("-o --o")):
			return false
		}
		n++
	}
	return n == r.pipe.elements
}

// isRunBy reports whether commands[runner] runs commands[i], directly or through other commands.
func isRunBy(commands []command, i, runner int) bool {
	for i >= 0 && i != runner {
		i = commands[i].by
	}
	return i == runner
}

// producesNames reports whether a command prints only file names.
func (c *command) producesNames() bool {
	words, ok := producers[c.name]
	if !ok || words != "" && !slices.ContainsFunc(c.args, func(a arg) bool { return a.kind == literal && a.matchWord(words) != "" }) {
		return false
	}
	if strings.HasSuffix(c.name, "find") {
		return findsNames(c.args) && !c.hasOption("-printf -exec -ok -fprint")
	}
	return !slices.ContainsFunc(c.args, func(a arg) bool {
		return a.kind == anything || c.name == "ls" && isCluster(a.text) && strings.ContainsAny(a.text, "lis")
	}) &&
		!c.hasOption("--format --json -x -X --exec")
}
