package shell

import "strings"

// readFind reads the commands of -exec and its kin.
func readFind(r *reader, args []arg) {
	unknown, ends := 0, 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.kind == anything:
			r.unsure("an expression of find that is not literal")
			return
		case a.says("=-exec =-execdir =-ok =-okdir") != "":
			n := execEnd(args[i+1:])
			r.run(replaced(args[i+1:i+1+n], "{}"), nil)
			i += n + 1
		case a.says("=; =+") != "":
			ends++
		case a.kind != literal && a.may("-exec") || a.kind != literal && a.may("-ok"):
			unknown++
		}
	}
	if unknown > 1 || unknown == 1 && ends > 0 {
		r.unsure("an expression of find that is not literal")
	}
}

// execEnd returns how many arguments the command of -exec has.
func execEnd(args []arg) int {
	for i, a := range args {
		if a.kind == literal && (a.text == ";" || a.text == "+" && i > 0 && args[i-1].text == "{}") {
			return i
		}
	}
	return len(args)
}

// replaced returns the arguments with what stands for a file name made unknown.
func replaced(args []arg, mark string) []arg {
	out := make([]arg, len(args))
	for i, a := range args {
		out[i] = a
		if before, after, ok := strings.Cut(a.text, mark); ok && a.kind == literal {
			if j := strings.LastIndex(after, mark); j >= 0 {
				after = after[j+len(mark):]
			}
			out[i] = arg{kind: single, text: before, tail: after}
		}
	}
	return out
}

// xargsOptions are those of xargs; -i, -e and -l, which take a value only if attached, are left out.
var xargsOptions = leading("0 o p r t x a= d= E= I= L= n= P= s= R= J= S= null open-tty interactive no-run-if-empty verbose exit arg-file= delimiter= max-args= max-procs= max-lines= max-chars= replace= process-slot-var= show-limits")

// readXargs reads the command that xargs runs with arguments which are not known.
func readXargs(r *reader, args []arg) {
	found, rest, ok := xargsOptions().lead(args)
	if !ok {
		r.unsure("xargs with options that are not known")
		return
	}
	for _, o := range found {
		switch o.name {
		case "process-slot-var":
			r.unsure("a variable whose name is not literal")
		case "I", "J", "R", "replace":
			if o.value.kind != literal || o.value.text == "" {
				r.unsure("a mark that is not literal")
				return
			}
			if len(rest) > 0 {
				r.run(append(replaced(rest, o.value.text), arg{kind: anything}), nil)
			}
			return
		}
	}
	if len(rest) > 0 {
		if clients[rest[0].text] {
			r.unsure("statements from the input")
		}
		r.run(append(rest[:len(rest):len(rest)], arg{kind: anything}), nil)
	}
}
