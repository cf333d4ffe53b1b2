package shell_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator makes scripts. Many of them run rm, in one of the ways listed in the tables. A seed
// always gives the same script.
//
// No script contains a slash or names PATH, so a script can reach only the shims in its directory.
type generator struct {
	*rand.Rand
	docs []string // here documents whose bodies belong after the current line
}

// generate returns the script of a seed.
func generate(seed uint64) string {
	for n := uint64(0); ; n++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, n))}
		s := g.one(
			func() string { return g.script(3) }, func() string { return g.script(2) },
			func() string { return g.stmt(2) + g.last() }, func() string { return g.stmt(1) + g.last() }, func() string { return g.simple(1) + g.last() },
			func() string {
				return g.pick("ls x", "cat f", "echo rm", "ls | cat") + g.pick(";", " && ", "\n", " | ") + g.simple(1) + g.last()
			},
		)
		if g.IntN(6) == 0 {
			s = g.within()
		}
		if g.IntN(4) == 0 {
			s = g.mutate(s)
		}
		if isSafe(s) {
			return s
		}
	}
}

// guard defines the function that bash calls for an unknown command. It must not call itself.
const guard = "command_not_found_handle() { [ $n ] && return; n=1; "

// isSafe reports whether a script cannot reach anything outside its directory.
func isSafe(s string) bool {
	for _, bad := range []string{"/", "PATH", "-p", "hash", "x2f", "057", "kill", "ulimit", "cd ", "exec 3", "3>", "3<", "4>", "4<", "while :", "until !"} {
		if strings.Contains(s, bad) {
			return false
		}
	}
	return strings.Count(s, "_handle") == strings.Count(s, guard) &&
		strings.Count(s, "while ")+strings.Count(s, "until ")+strings.Count(s, "select ") <= strings.Count(s, "break") &&
		strings.Count(s, "for ((") <= strings.Count(s, "i++")+strings.Count(s, "for ((;v")
}

// mutate inserts, drops, duplicates or swaps a few characters.
func (g *generator) mutate(s string) string {
	const chars = "'\"\\`$(){}[]<>|&;#!*?=~,@ \n\t:-+.^%"
	b := []byte(s)
	for range 1 + g.IntN(3) {
		i := g.IntN(len(b))
		switch g.IntN(4) {
		case 0:
			b = append(b[:i:i], append([]byte{chars[g.IntN(len(chars))]}, b[i:]...)...)
		case 1:
			if len(b) > 1 {
				b = append(b[:i:i], b[i+1:]...)
			}
		case 2:
			b[i] = chars[g.IntN(len(chars))]
		case 3:
			j := g.IntN(len(b))
			b[i], b[j] = b[j], b[i]
		}
	}
	return string(b)
}

// pick returns one of the alternatives.
func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// one calls one of the alternatives.
func (g *generator) one(list ...func() string) string { return list[g.IntN(len(list))]() }

// script returns a list of statements.
func (g *generator) script(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString(g.pick(";", "; ", "\n", "&", " && ", " || ", " | ", " |& ", "\n# rm\n", " ; "))
		}
		b.WriteString(g.stmt(depth))
		if len(g.docs) > 0 {
			b.WriteString(g.due())
		}
	}
	return b.String()
}

// last returns the pending bodies of here documents for the end of a script.
func (g *generator) last() string {
	if len(g.docs) == 0 {
		return ""
	}
	return g.due()
}

// due returns the pending bodies of here documents, and the newline that ends the command.
func (g *generator) due() string {
	s := "\n" + strings.Join(g.docs, "")
	g.docs = nil
	return s + ":"
}

// closed returns a script that can stand between brackets.
func (g *generator) closed(depth int) string {
	before := g.docs
	g.docs = nil
	s := g.script(depth)
	g.docs = before
	return s
}

// stmt returns a statement.
func (g *generator) stmt(depth int) string {
	if depth <= 0 {
		return g.simple(0)
	}
	d := depth - 1
	sub := func() string { return g.closed(d) }
	return g.one(
		func() string { return g.simple(d) }, func() string { return g.simple(d) }, func() string { return g.simple(d) },
		func() string { return g.wrapped(d) }, func() string { return g.wrapped(d) },
		func() string { return g.text(d) }, func() string { return g.text(d) },
		func() string { return g.evaluated(d) },
		func() string { return "(" + sub() + ")" },
		func() string { return "{ " + sub() + "\n}" },
		func() string { return "! " + g.simple(d) },
		func() string { return "time " + g.simple(d) },
		func() string { return "if " + sub() + "\nthen " + sub() + "\nelse " + sub() + "\nfi" },
		func() string { return "for i in " + g.words(d) + "; do " + sub() + "\ndone" },
		func() string { return "for ((i=0;i<1;i++)); do " + sub() + "\ndone" },
		func() string { return "while " + sub() + "\ndo break; done" },
		func() string { return "until " + sub() + "\ndo " + sub() + "\nbreak; done" },
		func() string {
			return "case " + g.word(d) + " in " + g.word(d) + ") " + sub() + "\n;; *) " + sub() + "\nesac"
		},
		func() string { return "f() { " + sub() + "\n}; f" },
		func() string { return "function rm { ls; }; " + g.simple(d) },
		func() string { return "coproc " + g.simple(d) },
		func() string { return "coproc { " + sub() + "\n}" },
		func() string { return "[[ " + g.word(d) + " == " + g.word(d) + " ]] && " + g.simple(d) },
		func() string { return "[ " + g.word(d) + " ] || " + g.simple(d) },
		func() string { return "select i in a; do " + sub() + "\nbreak; done <<< 1" },
	)
}

// simple returns a simple command.
func (g *generator) simple(depth int) string {
	var b strings.Builder
	if g.IntN(8) == 0 {
		b.WriteString(g.pick("A=1 ", "A=rm ", "A='rm x' B= ", "2>&1 ", ">f ", "<f "))
	}
	b.WriteString(g.verb(depth))
	if g.IntN(4) > 0 {
		b.WriteString(" " + g.words(depth))
	}
	switch g.IntN(12) {
	case 0:
		b.WriteString(g.pick(" >f", " 2>&1", " >>f", " <f", " &>f", " >|f", " <<<x"))
	case 1:
		b.WriteString(" <<E")
		g.docs = append(g.docs, g.pick("rm x\n", "$X `ls`\n", "$(rm x)\n", "\\$(rm x)\n")+"E\n")
	case 2:
		b.WriteString(" <<'E'")
		g.docs = append(g.docs, g.pick("rm x\n", "$(rm x)\n")+"E\n")
	}
	return b.String()
}

// verb returns a command word.
func (g *generator) verb(depth int) string {
	switch g.IntN(10) {
	case 0, 1, 2:
		return g.pick("ls", "echo", ":", "true", "cat", "printf", "cp", "x")
	case 3:
		return g.dynamic(depth)
	}
	return g.spelled("rm")
}

// spelled writes a name in one of many ways.
func (g *generator) spelled(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i : i+1]
		b.WriteString(g.one(
			func() string { return c }, func() string { return c }, func() string { return c }, func() string { return c },
			func() string { return `\` + c },
			func() string { return `'` + c + `'` },
			func() string { return `"` + c + `"` },
			func() string { return `''` + c },
			func() string { return c + `""` },
			func() string { return c + "\\\n" },
			func() string { return `$'` + c + `'` },
			func() string { return fmt.Sprintf(`$'\x%02x'`, c[0]) },
			func() string { return fmt.Sprintf(`$'\%03o'`, c[0]) },
			func() string { return `$"` + c + `"` },
			func() string { return c + g.pick("$@", "${u}", "$()", "``", `"$*"`, "${u-}", "$(:)") },
			func() string { return "[" + c + "]" },
			func() string { return "{" + c + ",}" },
			func() string { return "${u:-" + c + "}" },
			func() string { return "$(echo " + c + ")" },
		))
	}
	return b.String()
}

// dynamic returns a command whose command word expands to the name.
func (g *generator) dynamic(depth int) string {
	return g.pick(
		"X=rm; $X", "X='rm y'; $X", "X=rm; \"$X\"", "X=(rm y); ${X[@]}", "X=(rm y); \"${X[@]}\"", "X=arm; ${X#a}", "X=mr; ${X:1}${X:0:1}", "X=RM; ${X,,}",
		"set -- rm y; $@", "set -- rm y; \"$@\"", "set -- rm; $1", "printf -v X rm; $X", "read X <<< rm; $X", "{rm,y}", "{rm,}", "r{m,n}", "r?", "r*", "[a-r]m", "$u rm",
		"X=Y; Y=rm; ${!X}", "declare X=rm; $X", "declare -n X=Y; Y=rm; $X", ": ${X:=rm}; $X", "X=rm\\ y; $X", "IFS=_; X=rm_y; $X", "$(echo rm)", "`echo rm`", "mapfile -t X <<< rm; $X",
		"for X in rm; do $X; done; ls", "let X=1; $X", "local X=rm; $X", "case rm in $X) ;; *) X=rm;; esac; $X", "X=$'\\x72\\x6d'; $X", "{r,s}m", "$'rm'", "X=r; ${X}m", "X=r; \"${X}m\"", "eval X=rm; $X",
		"X='sudo -n rm'; $X", "X=(sudo); X+=(rm y); \"${X[@]}\"", "X=(ls); [ $u ] || X=(rm y); \"${X[@]}\"", "X=(ls); [ $u ] || X+=(rm); sudo \"${X[@]}\"", "X=(ls); X[0]=rm; \"${X[@]}\" y",
		"r() { \"$@\"; }; r rm", "r() { shift; \"$@\"; }; r x rm", "r() { $@; }; r 'rm x'", "r() { set -- rm x; \"$@\"; }; r", "m() { r rm; }; r() { \"$@\"; }; m", "r() { X=$1; shift; sudo \"$@\"; }; r y rm",
		"r() { [ $2 ] && shift; \"$@\"; }; r ls rm", "r() { ls \"$@\"; }; r rm",
		"r() { \"$@\" rm x; }; r env", "r() { sudo \"$@\"; }; r rm", "r() { eval \"$*\"; }; r rm x", "r() { for i in 1 2; do \"$@\"; shift; done; }; r ls rm", "r() { r2() { \"$@\"; }; r2 \"$@\"; }; r rm",
		"X=ls; [ $u ] || X=rm; $X", "if :; then X='sudo rm'; else X=ls; fi; $X y", "X=ls; for i in 1 2; do $X y; X=rm; done", "X=ls; r() { X=rm; }; r; $X", "r() { \"$1\" x; }; r rm", "r() { \"${@:2}\"; }; r ls rm x",
		"set -e; r() { set +e; }; r; rm x; ls", "r() { \"$@\"; }; r set -e; rm x; ls", "r() { echo 'rm x' | \"$@\"; }; r bash", "r() { \"$@\"; }; r bash <<< 'rm x'", "declare -A c=(ls rm); \"${c[@]}\" x", "c=(ls [0]=rm); \"${c[@]}\"",
		"shopt -s expand_aliases; alias l='rm x'\nl", "shopt -s expand_aliases; alias l=sudo k=l\nk rm",
	)
}

// words returns a few arguments.
func (g *generator) words(depth int) string {
	list := make([]string, 1+g.IntN(2))
	for i := range list {
		list[i] = g.word(depth)
	}
	return strings.Join(list, " ")
}

// word returns an argument.
func (g *generator) word(depth int) string {
	if depth <= 0 || g.IntN(3) > 0 {
		return g.pick("x", "rm", "'rm x'", "\"rm\"", "-f", "$u", "\"$u\"", "a=b", "*", "{a,b}", "-v", "--", "\\;", "#", "a#b", "'$(rm x)'", "\\$x", "~")
	}
	sub := g.closed(depth - 1)
	arith := g.closed(0)
	return g.one(
		func() string { return "$(" + sub + "\n)" },
		func() string { return "\"$(" + sub + "\n)\"" },
		func() string { return "\"a${u:-$(" + sub + "\n)}\"" },
		func() string { return "`" + strings.NewReplacer("`", "", `\`, `\\`, "$", `\$`).Replace(sub) + "\n`" },
		func() string { return "<(" + sub + "\n)" },
		func() string { return ">(" + sub + "\n)" },
		func() string { return "${u:=$(" + sub + "\n)}" },
		func() string { return "${u[$(" + arith + "\n)]}" },
		func() string { return "$((a[$(" + arith + "\n)]))" },
		func() string { return "$((1+$(" + arith + "\n)))" },
		func() string { return "$[1+$(" + arith + "\n)]" },
		func() string { return "${u:$(" + arith + "\n)}" },
		func() string { return "{a,$(" + sub + "\n)}" },
		func() string { return "${u/a/$(" + sub + "\n)}" },
		func() string { return "${ " + sub + "\n}" },
	)
}

// wrapped returns a command that a wrapper runs.
func (g *generator) wrapped(depth int) string {
	inner := g.spelled("rm") + " " + g.words(depth)
	if depth > 0 && g.IntN(3) == 0 {
		inner = g.wrapped(depth - 1)
	}
	return g.pick(
		"command ", "command -- ", "builtin command ", "exec ", "exec -a ls ", "exec -- ", "eval ", "eval eval ", "builtin eval ", "env ", "env A=1 ", "env -i A=1 ", "env -u A -- ", "env --unset=A ",
		"env -S ", "sudo ", "sudo -u me ", "sudo -n -- ", "sudo A=1 ", "sudo --user=me ", "sudo -ume ", "nice ", "nice -n 5 ", "nice -n5 ", "nice -5 ", "timeout 5 ", "timeout -k 1 -s KILL 5 ", "timeout --signal=KILL 5 ",
		"nohup ", "setsid ", "setsid -w ", "stdbuf -oL ", "stdbuf -o L -e0 ", "echo y | xargs ", "echo y | xargs -n1 ", "echo y | xargs -I{} ", "xargs -0 -r ", "xargs -n 1 -- ", "busybox ", "chroot x ", "jobs -x ",
		"find x -exec ", "find x -name y -execdir ", "ssh h ", "ssh -l me h ", "watch ", "watch -n 1 ", "flock f ", "time ", "\\time -f %e ", "git bisect run ", "sudo sudo -n ", "timeout $u 5 ", "env $u ", "sudo \"$u\" ", "$u command ",
	) + inner + g.pick("", "", "", " \\;", " {} +", " {} \\;")
}

// text returns a command that runs a script given as text.
func (g *generator) text(depth int) string {
	before := g.docs
	g.docs = nil
	script := g.script(depth - 1)
	g.docs = before
	q := quote(script)
	if g.IntN(4) == 0 {
		q = doubleQuote(script)
	}
	return g.one(
		func() string {
			return g.pick("sh", "bash", "dash", "bash -e", "bash -x", "sudo bash", "env bash") + " -c " + q
		},
		func() string { return "bash -ec " + q + " a " + g.words(0) },
		func() string { return "bash -c -x " + q },
		func() string { return "eval " + q },
		func() string { return "trap " + q + " " + g.pick("EXIT", "0", "DEBUG", "ERR") + "; x" },
		func() string { return g.pick("sh", "bash", "bash -s") + " <<< " + q },
		func() string {
			g.docs = append(g.docs, script+"\nE\n")
			return g.pick("sh", "bash", "sudo sh", "cat | sh") + g.pick(" <<'E'", " <<E", " <<\\E", " <<\"E\"")
		},
		func() string {
			return "echo " + q + " | " + g.pick("sh", "bash -s", "sudo bash", "(sh)", "{ bash; }", "xargs -0 sh -c")
		},
		func() string { return "source <(echo " + q + ")" },
		func() string { return ". <(echo " + q + ")" },
		func() string { return "bash <(echo " + q + ")" },
		func() string { return "X=" + q + "; eval \"$X\"" },
		func() string { return "X=" + q + "; echo \"${X@P}\"" },
		func() string { return "find x -exec sh -c " + q + " \\;" },
		func() string { return "echo y | xargs sh -c " + q },
		func() string { return "ssh h " + q },
		func() string { return "watch " + q },
		func() string { return "env -S " + q },
		func() string { return "shopt -s expand_aliases; alias l=" + q + "\nl" },
		func() string { return "alias ls=" + q + "; eval ls" },
		func() string { return "mapfile -C " + q + " -c 1 a <<< x" },
		func() string {
			return "command_not_found_handle() { " + g.pick("\"$@\"", "$1", "rm x", script) + "\n}; nothing x"
		},
		func() string { return "compgen -C " + q },
		func() string { return "echo " + q },
		func() string { return "X=" + q },
		func() string { return ": " + q + " # " + strings.ReplaceAll(script, "\n", " ") },
		func() string { return "echo " + q + " > s; " + g.pick("bash s", "sh ./s", ". s", "bash < s") },
		func() string { return "PS4=" + quote("$("+script+"\n)") + "; set -x; ls" },
		func() string { return "BASH_ALIASES[l]=" + q + "; shopt -s expand_aliases\nl" },
		func() string { return "PROMPT_COMMAND=" + q + "; ls" },
	)
}

// evaluated returns a command whose text bash evaluates.
func (g *generator) evaluated(depth int) string {
	trick := quote("a[$(" + g.closed(0) + "\n)]")
	return g.one(
		func() string { return "v=" + trick + "; echo $((v))" },
		func() string { return "v=" + trick + "; ((v++))" },
		func() string { return "v=" + trick + "; [[ v -eq 1 ]]" },
		func() string { return "v=" + trick + "; [[ 1 -lt $v ]]" },
		func() string { return "v=" + trick + "; w=v; echo $((w))" },
		func() string { return "v=" + trick + "; echo ${x:v}" },
		func() string { return "v=" + trick + "; echo ${x[v]}" },
		func() string { return "v=" + trick + "; x[v]=1" },
		func() string { return "v=" + trick + "; let v" },
		func() string { return "v=" + trick + "; let x=v" },
		func() string { return "read v <<< " + trick + "; ((x=v))" },
		func() string { return "for v in " + trick + "; do ((v)); done" },
		func() string { return "f() { (($1)); }; f " + trick },
		func() string { return "set -- " + trick + "; echo $(($1))" },
		func() string { return "declare -i v=" + trick },
		func() string { return "declare -i v; v=" + trick },
		func() string { return "declare -n r=" + trick + "; echo $r" },
		func() string { return "v=" + trick + "; echo ${!v}" },
		func() string { return "a=(1); [[ -v " + trick + " ]]" },
		func() string { return "a=(1); test -v " + trick },
		func() string { return "a=(1); [ -v " + trick + " ]" },
		func() string { return "a=(1); unset " + trick },
		func() string { return "a=(1); printf -v " + trick + " y" },
		func() string { return "a=(1); read " + trick + " <<< x" },
		func() string { return "declare -A m; m[" + g.pick("x", "$(rm x)", "rm") + "]=1; echo ${m[@]}" },
		func() string { return "let " + trick },
		func() string { return "export " + trick + "=1" },
		func() string { return "v=5; for ((i=v;i<6;i++)); do " + g.simple(0) + "\ndone" },
		func() string { return "getopts a " + trick + " -a" },
		func() string { return "declare a=([" + "$(rm x)" + "]=1)" },
		func() string { return "(( $(" + g.closed(0) + "\n) ))" },
		func() string { return "x=$(echo " + trick + "); echo $((x))" },
		func() string { return "echo $(( $(echo " + trick + ") ))" },
		func() string { return "v=" + trick + "; printf '%d' \"$v\"" },
		func() string { return "v=" + trick + "; a=([v]=1)" },
		func() string { return "v=" + trick + "; echo $[v]" },
		func() string { return "v=" + trick + "; for ((;v;)); do break; done" },
		func() string { return "v=" + trick + "; echo ${x:0:v}" },
		func() string { return "mapfile v <<< " + trick + "; ((v))" },
	)
}

// quote quotes a text for bash.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// doubleQuote quotes a text with double quotes, leaving expansions to bash.
func doubleQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
