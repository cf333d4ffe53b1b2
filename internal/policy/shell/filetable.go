package shell

// fileTable says which files programs read and write that their arguments name, and which of
// their subcommands write files of the project that they do not name. In some, words are
// operands, -x is an option and + one more operand.
var fileTable = parsed(eachName(map[string]filer{
	// What reads its operands.
	"cat,less,more,most,bat,batcat,head,tail,tac,nl,od,xxd,hexdump,strings,base64,base32,wc,cut,paste,column,fold,fmt,rev,md5sum,sha1sum,sha256sum,cmp,diff,comm,source,.,view,zcat,gunzip,zless,file,jsonlint,xmllint": {reads: true, takes: "-n -c -s -d -f -w -t -A -j -N"},
	"grep,egrep,fgrep,zgrep,rg,ag,ack":  {skip: 1, reads: true, script: "-e --regexp -f --file", takes: "-e --regexp -A -B -C -m -g --glob -t --type --include --exclude --exclude-dir --max-count --color", sources: "-f --file"},
	"awk,gawk,mawk":                     {skip: 1, reads: true, script: "-f --file", takes: "-F -v", sources: "-f --file"},
	"jq,yq":                             {skip: 1, reads: true, takes: "--arg --argjson --indent", writing: "-i --inplace", instead: true},
	"sort,uniq":                         {reads: true, takes: "-k -t -S -T -f -s -w", valued: "-o --output"},
	"vi,vim,nvim,nano,emacs,code,micro": {reads: true},
	"python,python3,node,ruby,perl,php": {reads: true, takes: "-c -m -e -r -I -W -X", writing: "-i", instead: true},
	"curl":                              {valued: "-o --output", sources: "-d --data --data-binary --data-raw --data-urlencode -F --form -T --upload-file --netrc-file -K --config --cert --key", takes: "-H -X -u -A -e -b -c"},
	"wget":                              {valued: "-O --output-document", sources: "--post-file --body-file"},
	"openssl":                           {valued: "-out", sources: "-in -inkey -key"},
	"docker,podman,docker-compose":      {sources: "--env-file", takes: "-e -v -p --name -w -u -f"},
	"dotenv,dotenvx":                    {sources: "-f --env-file"},

	// What writes them.
	"find": {some: "*", with: "-delete", valued: "-fprint -fprint0 -fls -fprintf", sources: "-files0-from", takes: "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -maxdepth -mindepth -newer -size -mtime -mmin -user -group -perm"},
	"tee,sponge,touch,truncate,unlink,rm,shred,srm": {writes: true, takes: "-s -d -t -r"},
	"sed,gsed":                               {skip: 1, reads: true, script: "-e --expression -f --file", takes: "-e --expression -f --file -l", writing: "-i --in-place", instead: true},
	"cp,mv,install,ln,rsync,scp":             {last: true, takes: "-m -o -g -S -t -e --exclude --include", valued: "-t --target-directory"},
	"dd":                                     {},
	"patch":                                  {some: "*"},
	"tar,bsdtar":                             {some: "xf,xzf,xvf,xzvf,xjf", sources: "-T", takes: "-C -f"},
	"unzip":                                  {some: "*"},
	"split,csplit":                           {some: "*"},
	"git":                                    {takes: "-C -c -m -b -B --git-dir --work-tree", some: "checkout,switch,pull,merge,rebase,cherry-pick,revert,apply,am,restore,mv,rm,clean -f,reset --hard,reset --merge,reset --keep,stash,stash pop,stash apply,stash push,submodule update,worktree add,read-tree -u,checkout-index"},
	"prettier":                               {some: "*", with: "-w --write", takes: "--config --parser"},
	"eslint,stylelint,biome,oxlint":          {some: "*", with: "--fix --write --apply", takes: "-c --config -f --format --ext"},
	"gofmt,goimports,gofumpt":                {some: "*", with: "-w"},
	"black,isort,autopep8,yapf,docformatter": {some: "*", needs: 1},
	"ruff":                                   {some: "format,check --fix"},
	"rustfmt,swiftformat,ktlint":             {some: "*", needs: 1},
	"clang-format,shfmt":                     {some: "*", with: "-i -w"},
	"terraform,tofu":                         {some: "fmt"},
	"dart,deno,mix,zig":                      {some: "format,fmt"},
	"cargo":                                  {some: "fmt,fix,add +,remove +,update,clippy --fix,new,init", takes: "-p --package --features"},
	"go":                                     {some: "get +,fmt,generate,fix,mod tidy,mod init,mod edit,mod vendor,work"},
	"npm":                                    {some: "install +,i +,add +,uninstall,remove,rm,un,update,up,upgrade,audit fix,init,version +,pkg set,dedupe", takes: "--prefix -w --workspace"},
	"pnpm,bun":                               {some: "install +,i +,add +,remove,rm,update,up,upgrade,import,patch", takes: "--filter -F -C --dir"},
	"yarn":                                   {some: "add +,remove,upgrade,up,import,dedupe"},
	"pip,pip3":                               {some: ""},
	"poetry,uv,pdm,rye":                      {some: "add +,remove,update,lock,sync,init"},
	"bundle":                                 {some: "add +,update,lock"},
	"composer":                               {some: "require +,remove,update"},
	"gem,dotnet":                             {some: "add,remove,format"},
	"black-jupyter,pre-commit":               {some: "run"},
	"codemod,jscodeshift,ast-grep,comby":     {some: "*"},
}))
