package shell

// A tool is a program that may run a command named by its arguments or by a project file. The
// string fields are lists of words, as accepted by [arg.matchWord].
type tool struct {
	kind     toolKind
	mayRun   string // words that may make the tool run a command
	commands string // options whose value is a command line
	file     string // options whose value is a file that contains a program
	launches string // subcommands and options; after any of these, each argument may be the start of a command
	runs     string // subcommands; the arguments after them name files that contain programs
	flags    string // letters of the tool's harmless options; any other option may make it run a command
	files    string // names of the project files that define what the tool executes
}

// A toolKind describes what the arguments of a tool mean.
type toolKind uint8

const (
	optionTool toolKind = iota // the arguments are operands and options
	container                  // the arguments are operands, options and words of commands, so all of them must be literal
	builder                    // the arguments are targets defined by a project file
	runner                     // some arguments are targets defined by a project file, and others are passed to the programs that the targets run
	launcher                   // a command may begin at any argument
	delegate                   // the arguments may contain commands, but are not parsed
)

// tools is the table of tools, keyed by name.
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

// clients lists the programs that execute their standard input as commands, which may include shell
// commands.
var clients = setOf("sqlite3 duckdb psql mysql mariadb sftp gdb lldb vi vim nvim view gvim vimdiff vimtutor rvim rview bc dc groff troff nroff eqn tbl pic")
