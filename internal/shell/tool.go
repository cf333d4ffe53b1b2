package shell

import (
	"slices"
	"strings"
)

// A tool is a program that may run a command named by its arguments or by a file of the project.
// Its string fields are lists of words in the notation of [arg.matchWord].
type tool struct {
	kind     toolKind
	mayRun   string // arguments that may make it run a command
	commands string // options whose value is a command line
	file     string // options whose value is a file with a program
	launches string // after these words, any argument may begin a command
	runs     string // after these words, the arguments are files with programs
	flags    string // letters of its harmless options; any other option may make it run a command
	files    string // names of the project files that define what it runs
}

// A toolKind is the meaning of a tool's arguments.
type toolKind uint8

const (
	optionTool toolKind = iota // operands and options
	container                  // operands, options and the words of commands, so that all of them must be literal
	builder                    // targets that a file of the project defines
	runner                     // such targets, and arguments for the program that it runs
	launcher                   // any argument may begin a command
	delegate                   // commands in an unknown form
)

// tools is the table of tools by name.
var tools = eachName(map[string]tool{
	"tar,gtar,bsdtar":          {mayRun: "--checkpoint-action --rsh-command --rmt-command --info-script --new-volume-script -F -T *--files", commands: "--to-command --use-compress-program -I"},
	"ack,ag,bat,batcat":        {commands: "--pager"},
	"rsync":                    {commands: "--rsh --rsync-path -e"},
	"scp":                      {mayRun: "-S -o -F -D"},
	"sftp":                     {mayRun: "-S -o -F -b -D"},
	"sort":                     {commands: "--compress-program"},
	"split":                    {commands: "--filter"},
	"rg":                       {mayRun: "--hostname-bin", commands: "--pre"},
	"fd,fdfind":                {kind: container, mayRun: "-x -X --exec --exec-batch"},
	"zip":                      {mayRun: "-T --unzip-command"},
	"tcpdump":                  {mayRun: "-z"},
	"man":                      {mayRun: "-H --html -C --config-file", commands: "-P --pager"},
	"less":                     {mayRun: "+ -k -o --lesskey --lesskey-src --lesskey-content --cmd"},
	"more,most":                {mayRun: "+"},
	"vi,vim,view,gvim,vimdiff": {mayRun: "-c + -S --cmd -s -es -u -i"},
	"nvim":                     {mayRun: "-c + -S --cmd -s -es -u -i --headless -l"},
	"wget":                     {mayRun: "--use-askpass -e --execute"},
	"convert":                  {mayRun: "| msl: ephemeral:"},
	"patch":                    {mayRun: "-e --ed"},
	"openssl":                  {mayRun: "-engine -provider engine"},
	"dpkg":                     {mayRun: "--pre-invoke --post-invoke -D"},
	"rpm":                      {mayRun: "--eval -E --define -D --pipe"},
	"ansible":                  {mayRun: "-m --module-name -a --args"},
	"psql":                     {mayRun: `\! PROGRAM program \| \o \g`, file: "=-f =--file"},
	"mysql":                    {mayRun: `\! system`, commands: "--pager"},
	"ssh-copy-id":              {mayRun: "-o -F"},
	"sshfs":                    {mayRun: "ssh_command -o"},
	"gh":                       {mayRun: "--extension alias"},
	"gpg":                      {mayRun: "--exec-path --photo-viewer"},
	"ssh-keygen":               {mayRun: "-D -w -P11"},
	"info,ctags,pip,pip3,terraform,jq,cscope,sqlite3,duckdb,ffmpeg": {},

	"docker,podman,nerdctl,docker-compose,podman-compose,kubectl,oc,lxc,incus,ip,vagrant,heroku,fly,flyctl,gcloud,multipass,wsl,adb": {
		kind: container, launches: "=exec =run =debug =shell =ssh =attach =-e =--exec"},

	"npm,pnpm":    {kind: builder, files: "package.json", file: makefile, launches: projectLaunches, mayRun: packageTells},
	"yarn":        {kind: builder, files: "package.json", file: makefile, launches: projectLaunches + " =workspace =workspaces", mayRun: packageTells},
	"bun":         {kind: builder, files: "package.json", file: makefile, mayRun: projectTells + " =pkg", launches: projectLaunches, runs: "=run"},
	"deno":        {kind: builder, file: makefile, mayRun: projectTells + " =pkg", launches: projectLaunches, runs: "=run"},
	"go":          {kind: builder, file: makefile, mayRun: projectTells + " =-w *-ext", commands: "=-exec =-toolexec =-vettool =--exec =--toolexec =--vettool", runs: "=run"},
	"cargo":       {kind: builder, file: makefile, mayRun: projectTells + " =--config =rustc =rustdoc =watch", launches: projectLaunches},
	"make,gmake":  {kind: runner, files: "Makefile makefile GNUmakefile", file: "=-f", mayRun: "$ =.SHELLFLAGS =eval", flags: "jskBnqtdlCRrwi0123456789"},
	"just":        {kind: runner, files: "justfile Justfile .justfile", file: makefile, mayRun: projectTells, launches: projectLaunches},
	"task":        {kind: runner, files: "Taskfile.yml Taskfile.yaml", file: makefile, mayRun: projectTells, launches: projectLaunches},
	"rake":        {kind: runner, files: "Rakefile", file: makefile, mayRun: projectTells, launches: projectLaunches},
	"ninja":       {kind: runner, files: "build.ninja", file: makefile, mayRun: projectTells, launches: projectLaunches},
	"gradle,mvn":  {kind: runner, file: makefile, mayRun: projectTells, launches: projectLaunches},
	launcherNames: {kind: launcher},
	delegateNames: {kind: delegate},
})

// Words shared by several tools.
const (
	makefile        = "=-f =--file =--makefile"
	projectTells    = "=SHELL =.SHELLFLAGS =MAKEFLAGS =set-script =--eval =--shell =--script-shell =-E =eval =--chooser =--shell-arg =--shell-command =-f-"
	packageTells    = projectTells + " =edit =help =pkg --editor --viewer --node-options --call --script-shell --shell"
	projectLaunches = "=exec =x =dlx =explore =--command =script-shell"

	launcherNames = "npx,bunx,pnpx,uvx,pipx,poetry,pipenv,uv,conda,mamba,micromamba,pixi,hatch,pdm,rye,bundle,bundler,rbenv,pyenv,nvm,mise,asdf," +
		"rtx,volta,fnm,nix,nix-shell,devbox,guix,firejail,bwrap,proot,perf,hyperfine,entr,rr,cgexec,start-stop-daemon,daemonize," +
		"chronic,mosh,op,doppler,sops,aws-vault,envdir,setuidgid,softlimit,torsocks,proxychains,proxychains4,concurrently,nodemon," +
		"dotenvx,cross-env,env-cmd,watchexec,lxc-attach,machinectl,torify,trickle,cpulimit,schedtool,runcon,unionfs,schroot,eatmydata," +
		"faketime,tsocks,cargo-watch,reflex"
	delegateNames = "tmux,screen,at,batch,crontab,byobu,zellij,run-parts,socat,ncat,nc,netcat,ed,red,ftp,lftp,telnet,newgrp,login,emacs," +
		"emacsclient,ex,vipe,parallel,su,runuser,script,flock,sg,pkexec,toybox,numactl,setarch,linux32,linux64,prlimit,setpriv,unshare," +
		"nsenter,ltrace,systemd-inhibit,dbus-run-session,xvfb-run,fakeroot,unbuffer,rlwrap,chpst,catchsegv,winpty,caffeinate,arch," +
		"noglob,nocorrect,repeat,autoload,zmodload,emulate,zle,autossh,ssh-agent,fakechroot,ccache,sccache,distcc,dumb-init,tini,gosu,su-exec,dotenv,valgrind"
)

// matchWord returns the first of the words that the argument can be, or "". A word --name matches
// an abbreviation and an attached value; -x matches among other letters; =name matches the argument
// up to an equals sign; *text, and any other text, matches a part of the argument.
func (a arg) matchWord(words string) string {
	name, _, with := strings.Cut(a.text, "=")
	for word := range strings.FieldsSeq(words) {
		found := false
		switch {
		case strings.HasPrefix(word, "--"):
			found = len(name) > 2 && strings.HasPrefix(word, name)
		case word[0] == '-':
			found = isCluster(a.text) && strings.Contains(a.text, word[1:])
		case word[0] == '=':
			found = name == word[1:] && (a.kind == literal || with)
		default:
			part := strings.TrimPrefix(word, "*")
			found = strings.Contains(a.text, part) || strings.Contains(a.tail, part)
		}
		if found {
			return word
		}
	}
	return ""
}

// readTool reads what a tool runs. It reports false if an argument may still name a command.
func readTool(r *reader, name string, t tool, args []arg) bool {
	r.recognized = t.kind != container
	for file := range strings.FieldsSeq(t.files) {
		r.files.programs.add(file)
	}
	switch t.kind {
	case launcher:
		readLauncher(r, args)
		return false
	case delegate:
		if name == "zmodload" || name == "autoload" || name == "emulate" {
			r.doubtAll("a builtin of zsh that changes what its commands are")
			return true
		}
		r.doubtText("a program that runs what it is told: "+name, args...)
		return true
	}
	if strings.HasSuffix(name, "tar") && len(args) > 0 && !strings.HasPrefix(args[0].text, "-") {
		letters := arg{kind: args[0].kind, text: "-" + args[0].text, tail: args[0].tail} // tar cIf PROGRAM a b
		args = append([]arg{letters}, args[1:]...)
	}
	launched := false
	for i, a := range args {
		option := t.launches == "" && a.kind == spread && a.text == "" // a file name may be an option
		if t.kind == container && (a.kind == anything || option) || t.kind >= builder && i == 0 && a.kind == anything {
			r.doubtStrict("a subcommand that is not literal")
			return false
		}
		if !launched && a.matchWord(t.launches) != "" {
			launched = true
			if t.kind == container {
				r.possibly(args[i+1:])
				return false
			}
			readLauncher(r, args[i+1:])
		}
		if i == 0 && a.text == "pkg" && !r.strict && t.files == "package.json" {
			r.files.pkg = append(r.files.pkg, r.owner)
			r.files.data = append(r.files.data, args[1:]...)
			continue
		}
		readToolArgument(r, t, a, args[i+1:])
	}
	return t.kind != runner
}

// readToolArgument reads an argument of a tool and, if necessary, the following ones in rest.
func readToolArgument(r *reader, t tool, a arg, rest []arg) {
	option, value, with := a.cut()
	if !with && len(rest) > 0 {
		value = rest[0]
	}
	switch command := a.matchWord(t.commands); {
	case a.matchWord(t.mayRun) != "":
		r.doubtText("an option that may run a command", append([]arg{a}, rest...)...)
	case command != "" && (option == strings.TrimPrefix(command, "=") || with && strings.HasPrefix(command, "--")) && (with || len(rest) > 0):
		r.text(value)
	case command != "":
		r.doubtText("an option that runs a command", append([]arg{a}, rest...)...)
	case a.matchWord(t.file) != "":
		readScriptFile(r, value)
	case a.matchWord(t.runs) != "":
		readProgramFiles(r, rest)
	case t.flags != "" && a.kind == literal && (a.text == "--no-print-directory" || isCluster(a.text) && strings.Trim(a.text[1:], t.flags) == ""):
	case t.flags != "" && strings.HasPrefix(a.text, "-"):
		r.doubtText("an option that changes what is run", append([]arg{a}, rest...)...)
	case t.kind >= builder && with && steers(option):
		r.assigned(option, value)
	case t.kind == runner && with && a.kind != literal:
		r.vars.made = true
	}
}

// readLauncher reads arguments; a command may begin at any of them.
func readLauncher(r *reader, args []arg) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.kind == literal && strings.ContainsAny(a.text, " ;|&$`") }) {
		r.doubtText("an argument that may be a script", args...)
	}
	r.possibly(args)
}

// readProgramFiles reads the files that `go run` and similar commands run. A program that is
// downloaded, or encoded in a data URL, is not in a file.
func readProgramFiles(r *reader, args []arg) {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "-") && a.text != "-":
		case a.text == "-", isData(a.text), strings.Contains(a.text, "://"):
			r.doubtText("a program that is in no file", args...)
			return
		default:
			readScriptFile(r, a)
		}
	}
}
