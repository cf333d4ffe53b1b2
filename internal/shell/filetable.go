package shell

import "strings"

// fileTable describes, for each program, which arguments name files that it reads or writes. It
// also describes which arguments make it write other files of the project; see [withRows].
var fileTable = withRows(eachName(map[string]fileRule{
	// Programs that read the files named by their operands.
	"cat,tac,rev,wc,comm,source,.,zcat,zless,jsonlint,md5sum,sha1sum,sha256sum,sha512sum,b2sum": {reads: true},
	"bat,batcat":                            {reads: true, takes: "-l --language -H --highlight-line --style --theme -r --line-range --color --paging"},
	"less,more,most,view":                   {reads: true, takes: "-p -x -j"},
	"head,tail":                             {reads: true, takes: "-n -c --lines --bytes -s --pid"},
	"nl":                                    {reads: true, takes: "-b -n -w -s -v -i -l -h -d"},
	"od":                                    {reads: true, takes: "-A -j -N -t -w -S"},
	"xxd":                                   {reads: true, takes: "-l -s -c -g"},
	"hexdump":                               {reads: true, takes: "-e -n -s"},
	"strings":                               {reads: true, takes: "-n -t -e --bytes --radix --encoding"},
	"base64,base32":                         {reads: true, takes: "-w -b --wrap"},
	"cut":                                   {reads: true, takes: "-d -f -c -b --delimiter --fields"},
	"paste":                                 {reads: true, takes: "-d --delimiters"},
	"column":                                {reads: true, takes: "-s -c -o -N"},
	"fold,fmt":                              {reads: true, takes: "-w --width"},
	"cmp":                                   {reads: true, takes: "-n -i"},
	"diff":                                  {reads: true, takes: "-U -C -I -x -X -W -L --label --exclude"},
	"file":                                  {reads: true, takes: "-m"},
	"xmllint":                               {reads: true, takes: "--xpath --schema"},
	"iconv,shuf,expand,unexpand,tsort,join": {reads: true, takes: "-f -t -n -i -o -1 -2 -j"},
	"sort":                                  {reads: true, takes: "-k -t -S -T --parallel --key", valued: "-o --output"},
	"uniq":                                  {reads: true, takes: "-f -s -w"},
	"grep,egrep,fgrep,zgrep":                {skip: 1, reads: true, script: "-e --regexp -f --file", takes: "-e --regexp -A -B -C -m -D -d --include --exclude --exclude-dir --max-count --label", sources: "-f --file"},
	"rg":                                    {skip: 1, reads: true, script: "-e --regexp -f --file --files", takes: "-e --regexp -A -B -C -m -g --glob --iglob -t --type -T --type-not -d --max-depth -j --threads -M --max-columns --sort --sortr -E --encoding -r --replace --max-count", sources: "-f --file"},
	"ag,ack":                                {skip: 1, reads: true, takes: "-A -B -C -m -G --ignore --ignore-dir"},
	"awk,gawk,mawk":                         {skip: 1, reads: true, script: "-f --file", takes: "-F -v -i", sources: "-f --file", writing: "-i", instead: true},
	"jq,yq":                                 {skip: 1, reads: true, takes: "--arg --argjson --indent", writing: "-i --inplace", instead: true},
	"vi,vim,nvim,nano,emacs,code,micro":     {reads: true, takes: "-c", writing: "-es -s", instead: true},
	"python,python3,node,ruby,perl,php":     {reads: true, takes: "-c -m -e -r -I -W -X --require --import --loader", sources: "--env-file --env-file-if-exists", writing: "-i", instead: true},
	"bun":                                   {takes: "--filter --cwd", sources: "--env-file", unnamed: "install +,i +,add +,remove,rm,update,up,upgrade,patch"},
	"uv":                                    {sources: "--env-file", unnamed: "add +,remove,lock,sync,init"},
	"curl":                                  {behind: "-d --data --data-binary --data-ascii --data-urlencode --json -F --form", sources: "-T --upload-file --netrc-file -K --config --cert --key --cacert", takes: "-H --header -X --request -u --user -A -e -b -c -m --max-time --connect-timeout -w --retry -x --proxy", valued: "-o --output", unnamed: "-O --remote-name"},
	"wget":                                  {takes: "-t -T -U -P --header", valued: "-O --output-document", sources: "--post-file --body-file -i", unnamed: "+ !-O !--output-document !--spider"},
	"openssl":                               {words: true, valued: "-out", sources: "-in -inkey -key"},
	"docker,podman,docker-compose":          {sources: "--env-file", takes: "-e -v -p --name -w -u -f"},
	"dotenv,dotenvx":                        {sources: "-f --env-file"},
	"zip,7z":                                {skip: 1, reads: true, takes: "-x -i"},

	// Programs that write files. Some write the files named by their operands. Others write other
	// files of the project.
	"tee,sponge,unlink,rm,rmdir": {writes: true},
	"touch":                      {writes: true, takes: "-d -t -r --date --reference"},
	"truncate":                   {writes: true, takes: "-s -r --size --reference"},
	"shred,srm":                  {writes: true, takes: "-n -s --iterations --size"},
	"sed,gsed":                   {skip: 1, reads: true, script: "-e --expression -f --file", takes: "-e --expression -f --file -l", writing: "-i --in-place", instead: true},
	"cp,ln":                      {last: true, takes: "-S --suffix", valued: "-t --target-directory"},
	"mv":                         {last: true, moves: true, takes: "-S --suffix", valued: "-t --target-directory"},
	"install":                    {last: true, takes: "-m -o -g -S --mode --owner --group", valued: "-t --target-directory"},
	"rsync":                      {last: true, remote: true, dry: "-n --dry-run", takes: "-e --rsh --exclude --include --filter -f --exclude-from --include-from --bwlimit"},
	"scp":                        {last: true, remote: true, takes: "-P -i -o -F -l -c -J"},
	"dd":                         {},
	"find":                       {words: true, unnamed: "-delete", valued: "-fprint -fprint0 -fls -fprintf", sources: "-files0-from", takes: "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -maxdepth -mindepth -newer -size -mtime -mmin -user -group -perm"},
	"patch":                      {takes: "-p -d", unnamed: "* !--dry-run"},
	"tar,bsdtar":                 {reads: true, takes: "--exclude", where: "-C --directory", sources: "-T -f --file", unnamed: "xf,xzf,xvf,xzvf,xvzf,xjf,xvjf,xJf,xvJf,-x --extract --get"},
	"unzip":                      {where: "-d", unnamed: "+ !-l !-t !-p !-v !-Z !-z"},
	"gzip,gunzip,xz,unxz,bzip2,bunzip2,zstd,unzstd": {reads: true, takes: "-S -T", unnamed: "+ !-c !-l !-t !--stdout !--list !--test"},
	"split,csplit,rename,ed,ex":                     {unnamed: "+"},
	"git": {takes: "-c -m -b -B --create -n --git-dir --work-tree --namespace", where: "-C", rewrite: "checkout restore rm mv", shows: "show diff log blame cat-file difftool archive",
		unnamed: "checkout +,checkout -f --force,switch +,switch -f,checkout -m --merge,switch -m --merge,pull !--dry-run,merge,rebase,cherry-pick,revert,am,mv !-n !--dry-run,rm !--cached !-n !--dry-run," +
			"apply !--check !--stat !--numstat !--summary,restore !--staged !-S,restore --worktree -W,clean -f --force !-n !--dry-run,reset --hard --merge --keep," +
			"stash =,stash push,stash save,stash pop,stash apply,stash branch,submodule update,read-tree -u,checkout-index,bisect start,bisect good,bisect bad,bisect skip,bisect reset,lfs pull,lfs checkout,subtree pull,subtree merge,subtree add,sparse-checkout set"},
	"gh,glab":                            {takes: "-R --repo", unnamed: "pr checkout,mr checkout,co +"},
	"svn":                                {unnamed: "update,up,switch,merge,revert,patch"},
	"hg":                                 {unnamed: "update,up,checkout,merge,revert,import,pull -u --update"},
	"prettier":                           {takes: "--config --parser", unnamed: "-w --write"},
	"eslint,stylelint,biome,oxlint":      {takes: "-c --config -f --format --ext", unnamed: "--fix --write --apply"},
	"rubocop,standardrb":                 {unnamed: "-a -A --auto-correct --autocorrect --autocorrect-all --fix"},
	"gofmt,goimports,gofumpt":            {unnamed: "-w"},
	"black,isort":                        {unnamed: "+ !--check !--check-only !--diff !-c"},
	"autopep8,yapf,docformatter":         {unnamed: "-i --in-place"},
	"ruff":                               {unnamed: "format !--check !--diff,check --fix"},
	"rustfmt,swiftformat":                {unnamed: "+ !--check !--lint"},
	"ktlint":                             {unnamed: "-F --format"},
	"clang-format,shfmt":                 {unnamed: "-i -w"},
	"buf":                                {unnamed: "format -w"},
	"dprint":                             {unnamed: "fmt"},
	"terraform,tofu":                     {words: true, unnamed: "fmt !-check"},
	"dart,deno,mix,zig":                  {unnamed: "format !--check !--check-formatted !--set-exit-if-changed,fmt !--check"},
	"cargo":                              {takes: "-p --package --features --manifest-path", unnamed: "fmt !--check,fix,add +,remove +,update !--dry-run,clippy --fix,new,init"},
	"go":                                 {words: true, takes: "-C", unnamed: "get +,fmt,generate,fix,mod tidy,mod init,mod edit,mod vendor,work"},
	"npm":                                {takes: "--prefix -w --workspace", unnamed: "install +,i +,add +,uninstall,remove,rm,un,update,up,upgrade,audit fix,init,version +,pkg set,dedupe"},
	"pnpm":                               {takes: "--filter -F -C --dir", unnamed: "install +,i +,add +,remove,rm,update,up,upgrade,import,patch"},
	"yarn":                               {unnamed: "add +,remove,upgrade,up,import,dedupe"},
	"poetry,pdm,rye":                     {unnamed: "add +,remove,update,lock,sync,init"},
	"bundle":                             {unnamed: "add +,update,lock"},
	"composer":                           {unnamed: "require +,remove,update"},
	"gem,dotnet":                         {unnamed: "add,remove,format"},
	"black-jupyter,pre-commit":           {unnamed: "run"},
	"gradle,gradlew":                     {unnamed: "spotlessApply,ktlintFormat"},
	"codemod,jscodeshift,ast-grep,comby": {unnamed: "+"},
}))

// readFiles records the files named by a command's arguments, according to the tables. The
// arguments of a program that is in no table count as files that it reads.
func (f *findings) readFiles(name string, args []arg) {
	if f.tentative {
		return
	}
	if rule, ok := fileTable[name]; ok {
		rule.read(f, args)
		return
	}
	if f.commands[f.owner].unlisted && f.commands[f.owner].by < 0 {
		for _, a := range args {
			_, value, with := a.cut()
			if !with {
				value = a
			}
			value.text = strings.TrimPrefix(value.text, "@")
			f.touch(Reads, value)
		}
	}
}
