package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A wrapper is a program that runs the command which its arguments name.
type wrapper struct {
	form
	operands int    // how many come before the command
	assigns  bool   // name=value may come before the command
	joins    bool   // the words of the command are a script, put together with spaces
	idle     bool   // without a command it runs none
	queries  string // options with which it runs nothing, divided by spaces
}

// wrappers is the table of the wrappers. Options with an optional value stand
// in it twice.
var wrappers = eachName(map[string]wrapper{
	"command":          {form: form{flags: "pvV"}, idle: true, queries: "v V"},
	"builtin":          {idle: true},
	"exec":             {form: form{flags: "cl", values: "a"}, idle: true},
	"time":             {form: form{flags: "apvq", values: "fo", long: "--portability --verbose --append --quiet --format= --output="}, idle: true},
	"env,genv":         {form: form{flags: "i0v", values: "uC", long: "--ignore-environment --null --debug --unset= --chdir="}, assigns: true, idle: true},
	"sudo":             {form: form{flags: "AbBEHnPSkKlvV", values: "CDghpRrTtUu", long: sudoLong}, assigns: true, queries: "K v V l --list --version --validate --remove-timestamp"},
	"doas":             {form: form{flags: "nL", values: "uCa"}, queries: "L"},
	"nice,gnice":       {form: form{flags: "0123456789", values: "n", long: "--adjustment="}, idle: true},
	"ionice":           {form: form{flags: "t", values: "cnpPu", long: "--class= --classdata= --ignore --pid="}, idle: true, queries: "p P u --pid"},
	"nohup,gnohup,-":   {},
	"timeout,gtimeout": {form: form{flags: "vf", values: "ks", long: "--foreground --preserve-status --verbose --kill-after= --signal="}, operands: 1},
	"stdbuf,gstdbuf":   {form: form{values: "ioe", long: "--input= --output= --error="}},
	"setsid":           {form: form{flags: "cfw", long: "--ctty --fork --wait"}},
	"chroot":           {form: form{long: "--userspec= --groups= --skip-chdir"}, operands: 1},
	"busybox":          {form: form{long: "--list --list-full"}, idle: true, queries: "--list --list-full"},
	"taskset":          {form: form{flags: "acp", long: "--all-tasks --cpu-list --pid"}, operands: 1, queries: "p --pid"},
	"chrt":             {form: form{flags: "abdfiorRvm", values: "TPD", long: "--batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose --all-tasks --max"}, operands: 1, queries: "m --max"},
	"strace":           {form: form{flags: "cCdDfFhiknqrtTvVwxyYzZ", values: "aEebIoOpPsSuUX", long: "--follow-forks --summary --summary-only --trace= --output= --quiet --attach= --string-limit= --timestamps"}, idle: true},
	"systemd-run":      {form: form{flags: "dGPqrtS", values: "EpuHM", long: systemdLong}, assigns: true},
	"jobs":             {form: form{flags: "lnprsx"}, idle: true},
	"ssh":              {form: form{flags: "46AaCfGgKkMNnqsTtVvXxYy", values: "BbcDEeFIiJLlmopQRSWw"}, operands: 1, joins: true, queries: "N V G Q"},
	"watch":            {form: form{flags: "bcCdegptwxr", values: "nqs", long: "--beep --color --no-color --differences --errexit --chgexit --no-title --precise --no-wrap --exec --interval= --equexit="}, joins: true},
})

const (
	sudoLong    = "--askpass --background --preserve-env --preserve-env= --set-home --non-interactive --preserve-groups --prompt= --reset-timestamp --stdin --user= --group= --chdir= --chroot= --host= --close-from= --role= --type= --other-user= --command-timeout= --list --version --validate --remove-timestamp"
	systemdLong = "--user --system --scope --unit= --property= --description= --slice= --remain-after-exit --send-sighup --service-type= --uid= --gid= --nice= --working-directory= --same-dir --setenv= --pty --pipe --quiet --collect --wait --no-block --no-ask-password --machine= --host="
)

// readWrapper reads the command that a wrapper runs.
func readWrapper(r *reader, w wrapper, args []arg, redirs []*syntax.Redirect) {
	found, rest, ok := w.options(args)
	if !ok {
		r.unsure("a wrapper with options that are not known")
		return
	}
	for _, q := range strings.Fields(w.queries) {
		if has(found, q) {
			return
		}
	}
	readOptionValues(r, found)
	if w.assigns {
		rest = readEnvironment(r, rest)
	}
	if rest, ok = skip(rest, w.operands); !ok {
		r.unsure("a wrapper with operands that are not known")
		return
	}
	switch {
	case len(rest) == 0 && !w.idle:
		r.unsure("a wrapper without a command")
	case w.joins:
		r.join(rest)
	default:
		r.run(rest, redirs)
	}
}

// readOptionValues reads those options of wrappers that set variables or run something.
func readOptionValues(r *reader, found []option) {
	for _, o := range found {
		switch {
		case strings.HasPrefix(o.value.text, "|"), strings.HasPrefix(o.value.text, "!"):
			r.unsure("an option that runs a command") // strace --output '|rm x'
		case o.name == "--setenv", o.name == "E" && strings.Contains(o.value.text, "="):
			readEnvironment(r, []arg{o.value})
		case o.name == "o" && o.value.kind != literal:
			r.unsure("an option that is not literal")
		case (o.name == "o" || o.name == "--output") && !strings.ContainsAny(o.value.text, "= "):
			r.files.write(o.value) // strace -o f
		case o.name == "o" && strings.Contains(strings.ToLower(o.value.text), "command"):
			r.unsure("an option that runs a command") // ssh -o ProxyCommand=...
		case o.name == "o" && strings.Contains(strings.ToLower(o.value.text), "exec"), o.name == "o" && strings.Contains(strings.ToLower(o.value.text), "include"):
			r.unsure("an option that runs a command") // ssh -o 'Match exec'
		case o.name == "I" && strings.ContainsAny(o.value.text, "/."):
			r.unsure("an option that loads a program") // ssh -I x.so
		case o.name == "--property" || o.name == "p" && strings.Contains(strings.ToLower(o.value.text), "exec"):
			r.unsure("an option that runs a command") // systemd-run -p ExecStartPre=...
		}
	}
}

// readEnvironment takes name=value off the arguments.
func readEnvironment(r *reader, args []arg) []arg {
	for len(args) > 0 {
		name, value, ok := strings.Cut(args[0].text, "=")
		if !ok || args[0].kind > single || strings.HasPrefix(name, "-") {
			return args
		}
		v := arg{kind: args[0].kind, text: value, tail: args[0].tail}
		r.assigned(name, v)
		r.given(name, v)
		args = args[1:]
	}
	return args
}

// skip drops operands, each of which has to be one word.
func skip(args []arg, n int) (rest []arg, ok bool) {
	for ; n > 0 && len(args) > 0; n-- {
		if args[0].kind > single {
			return nil, false
		}
		args = args[1:]
	}
	return args, true
}
