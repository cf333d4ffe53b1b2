package shell

import "sync"

// programs is the table of the programs whose options are known; see [program]. Programs and
// options that are not in the table might have any effect.
var programs = eachName(map[string]program{
	// Programs that only print something, whatever their arguments.
	"ls": {free: true, operands: anyOperands, options: "a|all A|almost-all l h|human-readable r|reverse t S R|recursive d|directory 1 i|inode s|size F|classify G p g o n color~ group-directories-first time-style= sort="},
	"dir,vdir,tac,test,[,type,which,basename,dirname,realpath,readlink,stat,du,df,id,groups,who,ps,cut,comm,tr,seq,expr,printenv,cmp,lsblk,sleep": {free: true, operands: anyOperands},
	"cat":       {free: true, operands: anyOperands, options: "n|number b|number-nonblank A|show-all e E|show-ends s|squeeze-blank t T|show-tabs v|show-nonprinting"},
	"head,tail": {free: true, operands: anyOperands, options: "# n|lines= c|bytes= q|quiet|silent v|verbose"},
	"wc":        {free: true, operands: anyOperands, options: "l|lines w|words c|bytes m|chars L|max-line-length"},
	"echo":      {free: true, operands: anyOperands, options: "n e E"},
	"pwd":       {free: true, options: "L P"},
	"cd":        {free: true, operands: oneOperand},
	"true,false,:,whoami,uname,uptime,nproc,lscpu": {free: true},

	// Programs that only print something. Their operands must be allowed, and all their options
	// must be listed here without the prefix ! or ?. touch is an exception: it creates empty files.
	"grep,egrep,fgrep":                   {operands: anyOperands, options: grepOptions},
	"rg":                                 {operands: anyOperands, options: "n|line-number N|no-line-number i|ignore-case S|smart-case s|case-sensitive w|word-regexp x|line-regexp l|files-with-matches files-without-match c|count v|invert-match o|only-matching e|regexp= g|glob= iglob= t|type= T|type-not= A|after-context= B|before-context= C|context= F|fixed-strings P|pcre2 U|multiline m|max-count= d|max-depth= M|max-columns= j|threads= hidden no-ignore u|unrestricted files color= json heading no-heading H|with-filename I|no-filename q|quiet p|pretty r|replace= sort= stats column no-messages no-config L|follow z|search-zip a|text f|file= E|encoding= max-filesize= trim type-list !pre= !pre-glob= !hostname-bin= hyperlink-format= ignore-file= passthru path-separator= null 0"},
	"find":                               {operands: anyOperands, options: findOptions},
	"fd":                                 {operands: anyOperands, options: "H|hidden I|no-ignore u e|extension= t|type= g|glob a|absolute-path d|max-depth= E|exclude= 0|print0 F|fixed-strings L|follow s|case-sensitive i|ignore-case p|full-path color= S|size= changed-within= changed-before="},
	"tree":                               {operands: anyOperands, options: "a d f i l p s h D C n F J X P= I= L= noreport dirsfirst gitignore prune du inodes filelimit= charset= !o= !R !H="},
	"file":                               {operands: anyOperands, options: "b|brief i|mime mime-type mime-encoding L|dereference h|no-dereference k|keep-going n|no-buffer N|no-pad r|raw 0|print0 !C|compile !m|magic-file= !f|files-from="},
	"sort":                               {operands: anyOperands, options: "b|ignore-leading-blanks d|dictionary-order f|ignore-case g|general-numeric-sort i|ignore-nonprinting M|month-sort h|human-numeric-sort n|numeric-sort R|random-sort random-source= r|reverse sort= V|version-sort batch-size= c|check~ C debug files0-from= k|key= m|merge s|stable S|buffer-size= t|field-separator= parallel= u|unique z|zero-terminated !o|output= !T|temporary-directory= !compress-program="},
	"uniq":                               {operands: oneOperand, options: "c|count d|repeated D|all-repeated~ f|skip-fields= group~ i|ignore-case s|skip-chars= u|unique z|zero-terminated w|check-chars="},
	"diff":                               {operands: anyOperands, options: "q|brief s|report-identical-files c C|context= u U|unified= e|ed n|rcs y|side-by-side W|width= p|show-c-function F= label= t|expand-tabs T r|recursive no-dereference N|new-file i|ignore-case E Z b|ignore-space-change w|ignore-all-space B|ignore-blank-lines I= a|text strip-trailing-cr x|exclude= X= S= minimal d color~ suppress-common-lines"},
	"column":                             {operands: anyOperands, options: "t|table s|separator= N|table-columns= o|output-separator= x|fillrows c|output-width= R= J|json"},
	"strings":                            {operands: anyOperands, options: "a|all n|bytes= t|radix= f|print-file-name e|encoding="},
	"xxd":                                {operands: oneOperand, options: "l= s= c= g= p|ps|-ps|plain u b e d !r !i a"},
	"od":                                 {operands: anyOperands, options: "A= t= j= N= w~ v c x d o b a"},
	"hexdump":                            {operands: anyOperands, options: "C c b d o x n= s= v"},
	"paste":                              {operands: anyOperands, options: "d|delimiters= s|serial"},
	"fold":                               {operands: anyOperands, options: "w|width= s|spaces b|bytes"},
	"fmt":                                {operands: anyOperands, options: "w|width= s u"},
	"nl":                                 {operands: anyOperands, options: "b= n= w= s= v="},
	"rev,cksum,staticcheck,touch":        {operands: anyOperands},
	"join":                               {operands: anyOperands, options: "1= 2= t= o= a= v= e= i"},
	"md5sum,sha1sum,sha256sum,sha512sum": {operands: anyOperands, options: "b c|check t quiet status"},
	"base64":                             {operands: oneOperand, options: "d|decode D w|wrap="},
	"date":                               {operands: operands{max: 1, begin: "+"}, options: "u|utc|universal I~ iso-8601~ R|rfc-email rfc-3339= d|date= r|reference= !s|set= !f|file="},
	"hostname":                           {options: "f|fqdn|long i|ip-address I|all-ip-addresses s|short d|domain !F|file= !b"},
	"free":                               {options: "b k m g h|human t|total w|wide"},
	"pgrep":                              {operands: anyOperands, options: "f|full a|list-full l|list-name x|exact u= n o c d= P="},
	"lsof":                               {operands: anyOperands, options: "i~ p= u= c= n P t a"},
	"dmesg":                              {options: "T|ctime k|kernel l|level= f|facility= x|decode !C|clear !c|read-clear !D !E !n="},
	"journalctl":                         {operands: anyOperands, options: "u|unit= n|lines= S|since= U|until= b~ p|priority= k|dmesg r|reverse o|output= no-pager x|catalog e|pager-end g|grep= user system f|follow a|all q|quiet"},
	"jq":                                 {operands: anyOperands, options: "r|raw-output n|null-input c|compact-output s|slurp S|sort-keys e|exit-status M|monochrome-output C|color-output R|raw-input j|join-output a|ascii-output tab indent= arg= argjson="},
	"sed":                                {operands: anyOperands, options: "n|quiet|silent E|r|regexp-extended s|separate u|unbuffered z|null-data e|expression= posix sandbox !i~ !in-place~ !f|file="},
	"awk,gawk":                           {operands: awkOperands, options: "F|field-separator= v|assign="},
	"mawk":                               {operands: awkOperands, options: "F= v="},
	"curl":                               {operands: operands{min: 1, max: unbounded, begin: "http"}, options: "s|silent S|show-error f|fail L|location i|include I|head v|verbose m|max-time= connect-timeout= compressed 4|ipv4 6|ipv6 retry= g|globoff !o|output= !O|remote-name !X|request= !d|data= !F|form= !T|upload-file= !K|config= !H|header= !u|user= !k|insecure !A|user-agent= !b|cookie= !c|cookie-jar= !D|dump-header= !w|write-out= !data-raw= !data-binary= !json= !e|referer= !x|proxy= !C|continue-at= !r|range= !E|cert="},

	// Git subcommands.
	"git status":         {operands: anyOperands, options: "s|short b|branch porcelain~ v|verbose u~ untracked-files~ ignored~ z long show-stash ahead-behind no-ahead-behind renames no-renames"},
	"git log,git show":   {operands: anyOperands, options: diffOptions + logOptions},
	"git diff":           {operands: anyOperands, options: diffOptions + " !ext-diff !textconv !no-index !O="},
	"git shortlog":       {operands: anyOperands, options: "s|summary n|numbered e|email since= until= no-merges"},
	"git blame":          {operands: anyOperands, options: "L= w M~ C~ e|show-email s l t p|porcelain since="},
	"git grep":           {operands: anyOperands, options: grepOptions + " cached break heading p|show-function W|function-context all-match and or not !untracked !no-index threads= recurse-submodules exclude-standard ?O~ ?open-files-in-pager~"},
	"git rev-parse":      {operands: anyOperands, options: "short~ abbrev-ref~ verify q|quiet show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir show-prefix show-cdup symbolic symbolic-full-name all branches tags"},
	"git rev-list":       {operands: anyOperands, options: "count left-right all branches~ tags~ n|max-count= since= until= author= grep= no-merges merges first-parent reverse oneline skip= max-age= min-age="},
	"git ls-files":       {operands: anyOperands, options: "c|cached m|modified o|others d|deleted s|stage u|unmerged t z v i|ignored exclude-standard x|exclude= error-unmatch full-name"},
	"git ls-tree":        {operands: anyOperands, options: "r t d z l|long name-only name-status full-tree full-name"},
	"git cat-file":       {operands: anyOperands, options: "p t s e"},
	"git describe":       {operands: anyOperands, options: "tags always dirty~ abbrev= match= long all contains exact-match"},
	"git merge-base":     {operands: anyOperands, options: "a|all is-ancestor fork-point octopus"},
	"git show-ref":       {operands: anyOperands, options: "head heads tags d|dereference s|hash~ verify q|quiet abbrev~"},
	"git branch":         {options: "a|all r|remotes v|verbose vv l|list show-current contains= no-contains= merged= no-merged= sort= format= points-at= color~ no-color column~ no-column !D>d+f !d|delete !f|force !M>m+f !m|move !C>c+f !c|copy !u|set-upstream-to= !unset-upstream !edit-description t|track~ !no-track q|quiet"},
	"git tag":            {options: "l|list n~ sort= contains= no-contains= merged= no-merged= points-at= format= column~ !d|delete !f|force !a|annotate !m|message= !s|sign !F|file="},
	"git remote":         {options: "v|verbose"},
	"git remote get-url": {operands: oneOperand, options: "push all"},
	"git stash list":     {options: "oneline stat~ p|patch #"},
	"git stash show":     {operands: oneOperand, options: "stat~ p|patch name-only name-status"},
	"git reflog":         {options: "# n|max-count= date= oneline"},
	"git count-objects":  {options: "v H"},
	"git add":            {operands: anyOperands, options: "A|all u|update v|verbose !f|force !n|dry-run !p|patch !i|interactive !e|edit !N|intent-to-add"},
	"git commit":         {operands: anyOperands, options: "m|message= a|all q|quiet v|verbose s|signoff no-edit author= date= F|file= !n|no-verify !amend !allow-empty !dry-run !C= !c= !S~ !e|edit !p|patch !i|include !o|only !t|template= !fixup= !squash= !reset-author"},
	"git push":           {operands: refOperands, options: "u|set-upstream q|quiet v|verbose progress no-progress tags follow-tags !no-verify !o|push-option= 4 6 atomic !all|branches !f|force|mirror|+|force-with-lease~ !d|delete|: !n|dry-run !prune !force-if-includes !repo= !porcelain thin no-thin signed~ recurse-submodules= ?receive-pack= ?exec="},
	"git fetch":          {operands: refOperands, options: "p|prune t|tags all q|quiet v|verbose a depth= unshallow n|no-tags j|jobs= deepen= progress !f|force !P|prune-tags ?upload-pack= !o= !update-head-ok !set-upstream !refmap= !filter= !append !shallow-since= !multiple !k|keep recurse-submodules~ !dry-run"},
	"git pull":           {operands: refOperands, options: "rebase~ ff-only no-rebase ff no-ff q|quiet v|verbose p|prune autostash no-edit t|tags depth= !f|force ?upload-pack= !set-upstream !allow-unrelated-histories !unshallow !a|append !j|jobs= !signoff !no-verify !autosquash !no-autostash !s|strategy= !X= !squash !no-commit commit n stat recurse-submodules~ all r~"},
	"git checkout":       {options: "q|quiet !f|force !b= !B= t|track~ detach !p|patch !ours !theirs !m|merge orphan="},
	"git switch":         {options: "q|quiet !f|force|discard-changes !c|create= !C|force-create= detach d t|track~ !m|merge"},
	"git reset":          {options: "q|quiet !hard !soft !mixed !keep !merge !p|patch !N"},
	"git clean":          {options: "!f|force !d !x !X !n|dry-run !q|quiet !i|interactive !e|exclude="},
	"git rebase":         {options: "!i|interactive ?x|exec= !f|force-rebase|no-ff continue abort skip quit q|quiet v|verbose onto= autostash no-autostash autosquash no-autosquash !s|strategy= !X|strategy-option= r|rebase-merges~ root m|merge apply keep-base committer-date-is-author-date ignore-date no-verify n stat no-stat S~ empty= keep-empty no-keep-empty update-refs !edit-todo show-current-patch fork-point no-fork-point signoff ff"},
	"git clone":          {operands: operands{max: 2, not: "\\"}, options: "depth= b|branch= q|quiet v|verbose single-branch no-single-branch no-tags progress recurse-submodules~ recursive shallow-submodules j|jobs= n|no-checkout bare mirror o|origin= filter= sparse l|local no-hardlinks s|shared dissociate shallow-since= 4 6 reference= !separate-git-dir= no-shallow-submodules reject-shallow ?c|config= ?u|upload-pack= ?template= !no-progress !remote-submodules !also-filter-submodules !server-option="},
	"git ls-remote":      {options: "heads tags t refs q|quiet exit-code symref sort= h b|branches get-url ?upload-pack= ?exec="},
	"git archive":        {options: "format= prefix= !o|output= l|list v|verbose 0 1 2 3 4 5 6 7 8 9 add-file= worktree-attributes mtime= ?exec= !remote="},
	"git init":           {options: "q|quiet bare b|initial-branch= shared~ object-format= ?template= !separate-git-dir="},

	// Programs that build and test. An operand selects a target or a test. Unless an entry allows
	// operands, a command may therefore have only the operands in the pattern.
	"make,gmake":                      {options: makeOptions},
	"go test":                         {operands: operands{max: unbounded, notBegin: "@", not: "="}, options: "v -race -count=1 -timeout= -cover -failfast -json -shuffle= p= -parallel= -trimpath !c !o= !-run= !-list= !-bench= !-exec= !-short !n !-tags= !-coverprofile= !-vet= !-skip= -covermode= !-coverpkg= !-benchmem !-fuzz= !-fuzztime= !-benchtime= !-mod= !-args x !-ldflags= !-cpuprofile= !-memprofile="},
	"go vet":                          {operands: anyOperands, options: "v -json"},
	"go build":                        {operands: anyOperands, options: "v -race -trimpath p="},
	"go list":                         {operands: anyOperands, options: "m f= -f= -json~ -deps -test e -find u -versions"},
	"go version":                      {operands: anyOperands, options: "m v"},
	"go env":                          {operands: anyOperands, options: "-json -changed"},
	"go doc":                          {operands: anyOperands, options: "-all -short -src u c -cmd"},
	"gofmt":                           {operands: anyOperands, options: "l d s e !w !r= !-cpuprofile="},
	"golangci-lint run":               {operands: anyOperands, options: "v|verbose timeout="},
	"cargo test":                      {options: "v|verbose q|quiet r|release workspace all all-features features= F= no-default-features all-targets locked offline frozen j|jobs= no-fail-fast color= target= profile= !no-run !p|package= !exclude= !lib !bin= !bins !doc !test= !tests !example= !examples !bench= !benches !manifest-path="},
	"cargo build":                     {options: "v|verbose q|quiet r|release workspace all-features locked j|jobs= color="},
	"cargo check,cargo clippy":        {options: "v|verbose q|quiet r|release workspace all-features all-targets locked j|jobs= color="},
	"npm test,npm run,npm run-script": {options: "s|silent !ignore-scripts !if-present !dry-run prefix= w|workspace= workspaces ws"},
	"npm ci":                          {options: "s|silent no-audit no-fund !ignore-scripts !dry-run"},
	"npm install":                     {options: "s|silent no-audit no-fund !g|global|location= !f|force !D|save-dev !E|save-exact !legacy-peer-deps !ignore-scripts !production !omit="},
	"npm ls":                          {operands: anyOperands, options: "depth= a|all g|global json l|long"},
	"npm view":                        {operands: anyOperands, options: "json"},
	"npm outdated":                    {operands: anyOperands, options: "json g|global l|long"},
	"pytest":                          {operands: operands{max: unbounded, notBegin: "@"}, options: "v|verbose q|quiet x|exitfirst s tb= r= color= durations= n|numprocesses= l|showlocals maxfail= strict-markers !k= !m= !p= !c= !lf|last-failed !co|collect-only !ff|failed-first !sw|stepwise !deselect= !setup-plan !setup-only !setup-show !fixtures !fixtures-per-test !markers !ignore= !ignore-glob= !cache-show~ !pyargs !confcutdir= !noconftest !rootdir="},
	"mvn":                             {options: "q|quiet B|batch-mode e|errors X|debug T|threads= -ntp|no-transfer-progress U|update-snapshots P|activate-profiles= s|settings= !f|file= !-pl|projects= !rf|resume-from= !N|non-recursive !fn|fail-never !h|help !v|version"},
	"gradle":                          {options: "q|quiet i|info s|stacktrace no-daemon console= !x|exclude-task= !m|dry-run !tests= parallel build-cache no-build-cache configuration-cache rerun-tasks P= !p|project-dir= !t|task-graph !h|help !v|version !continue"},
	"ansible-playbook":                {operands: anyOperands, options: "v i|inventory= e|extra-vars= b|become !C|check !syntax-check !list-tasks !list-hosts !list-tags !t|tags= !skip-tags= !l|limit= !start-at-task= !D|diff"},
	"eslint":                          {operands: anyOperands, options: "ext= quiet max-warnings= color no-color !fix !c|config= !o|output-file= !f|format="},
	"tsc":                             {options: "noEmit -noEmit p|project= pretty strict !init !showConfig !listFilesOnly !h|help !v|version"},
	"prettier":                        {operands: anyOperands, options: "c|check l|list-different !w|write"},
	"ruff check":                      {operands: anyOperands, options: "q|quiet v|verbose !fix"},
	"mypy":                            {operands: anyOperands, options: "strict v"},
	"vitest,vitest run":               {options: "reporter= coverage~ !t|testNamePattern= !changed~ !shard= !passWithNoTests !u|update !project= !related dir= !list"},
	"jest":                            {options: "ci verbose i|runInBand silent coverage !listTests !t|testNamePattern= !testPathPattern= !testPathPatterns= !o|onlyChanged !onlyFailures !changedSince= !passWithNoTests !findRelatedTests !showConfig !u|updateSnapshot !shard="},

	// Programs that change files.
	"cp":                              {operands: twoOperands, options: "a|archive r|R|recursive p f|force v|verbose !d !P|no-dereference L|dereference H T|no-target-directory !x|one-file-system !n|no-clobber !u|update~ !i|interactive !l|link !s|symbolic-link !t|target-directory= !b !backup~ !S|suffix= !attributes-only !remove-destination preserve~ !parents !sparse= !reflink~"},
	"mv":                              {operands: twoOperands, options: "f|force v|verbose T|no-target-directory !n|no-clobber !u|update~ !i|interactive !t|target-directory= !b !backup~ !S|suffix="},
	"mkdir":                           {operands: anyOperands, options: "p|parents v|verbose m|mode="},
	"rmdir":                           {operands: anyOperands, options: "p|parents v|verbose"},
	"rm":                              {operands: anyOperands, options: "r|R|recursive f|force v|verbose d|dir !i !I !interactive~ one-file-system preserve-root~ !no-preserve-root"},
	"ln":                              {operands: anyOperands, options: "s|symbolic f|force v|verbose n|no-dereference T|no-target-directory"},
	"chmod":                           {operands: anyOperands, options: "R|recursive v|verbose c|changes f|silent|quiet"},
	"chown,chgrp":                     {operands: anyOperands, options: "R|recursive v|verbose c|changes f|silent|quiet h|no-dereference"},
	"tee":                             {operands: anyOperands, options: "a|append"},
	"rsync":                           {operands: twoOperands, options: rsyncOptions},
	"tar czf,tar -czf,tar cf,tar -cf": {operands: twoOperands, options: "v !T|files-from= !X|exclude-from= !exclude= C|directory="},
	"tar tf,tar -tf,tar tzf,tar -tzf": {operands: oneOperand},
	"pg_dump":                         {operands: oneOperand, options: "f|file= F|format= d|dbname= U|username= h|host= p|port= w|no-password v|verbose O|no-owner x|no-acl !s|schema-only !t|table= !T= !a|data-only"},

	// Programs for containers, clusters and services.
	"docker ps":           {options: "a|all q|quiet n|last= l|latest s|size no-trunc f|filter= format="},
	"docker images":       {operands: oneOperand, options: "a|all q|quiet no-trunc f|filter= format= digests"},
	"docker logs":         {operands: oneOperand, options: "f|follow n|tail= since= until= t|timestamps"},
	"docker inspect":      {operands: anyOperands, options: "f|format= s|size type="},
	"docker run":          {options: "!privileged !v|volume= !e|env= !p|publish= !i|interactive !t|tty !d|detach !rm !name= !w|workdir= !u|user= !network|net= !entrypoint= !mount= !env-file= !platform= !h|hostname= !l|label= !m|memory= !cpus= !restart= !gpus= !pull= !cap-add= !device= !pid= !ipc= !security-opt= !add-host= !init !ulimit= !shm-size= !link= !P"},
	"docker exec":         {options: "!privileged !e|env= !i|interactive !t|tty !d|detach !w|workdir= !u|user= !env-file= !detach-keys="},
	"docker rm":           {operands: anyOperands, options: "v|volumes l|link !f|force"},
	"docker rmi":          {operands: anyOperands, options: "no-prune !f|force"},
	"docker system prune": {options: "!a|all !f|force !volumes !filter="},
	"kubectl get":         {operands: anyOperands, options: kubeOptions + " A|all-namespaces w|watch show-labels no-headers sort-by= field-selector= L|label-columns= !f|filename= !raw="},
	"kubectl exec":        {options: kubeOptions + " !i|stdin !t|tty !c|container= !q|quiet"},
	"kubectl describe":    {operands: anyOperands, options: kubeOptions + " A|all-namespaces"},
	"kubectl logs":        {operands: anyOperands, options: kubeOptions + " f|follow c|container= p|previous tail= since= timestamps all-containers prefix"},
	"kubectl delete":      {operands: anyOperands, options: kubeOptions + " ignore-not-found~ wait~ timeout= !force~ !all~ !f|filename= !grace-period= !now !A|all-namespaces !cascade~ !k|kustomize= !R|recursive"},
	"kubectl apply":       {options: kubeOptions + " f|filename= k|kustomize= R|recursive !force~ !prune~ !server-side~ !force-conflicts~ !dry-run="},
	"gh pr view,gh pr diff,gh pr checks,gh issue view":  {operands: oneOperand, options: ghOptions},
	"gh pr list,gh pr status,gh issue list,gh run list": {options: ghOptions},
	"gh run view":       {operands: oneOperand, options: ghOptions + " log log-failed"},
	"systemctl status":  {operands: anyOperands, options: "no-pager l|full n|lines= user"},
	"terraform apply":   {options: "!-auto-approve !-input= !-var= !-target= !-refresh-only !-destroy !-replace= !-var-file= !-lock= !-parallelism= !-no-color"},
	"terraform destroy": {options: "!-auto-approve !-input= !-var= !-target= !-var-file= !-lock= !-parallelism= !-no-color"},
})

// Options shared by several entries.
const (
	grepOptions  = "# E|extended-regexp F|fixed-strings G|basic-regexp P|perl-regexp e|regexp= f|file= i|ignore-case no-ignore-case y w|word-regexp x|line-regexp v|invert-match c|count L|files-without-match l|files-with-matches|name-only o|only-matching q|quiet|silent s|no-messages b|byte-offset h|no-filename H|with-filename n|line-number T|initial-tab Z z a|text A|after-context= B|before-context= C|context= binary-files= D|devices= d|directories= exclude= exclude-from= exclude-dir= include= I r|recursive R|dereference-recursive m|max-count= color~ colour~ line-buffered label= null column full-name max-depth="
	findOptions  = "-name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -type= -xtype= -size= -newer= -mtime= -mmin= -atime= -amin= -ctime= -cmin= -perm= -user= -group= -uid= -gid= -links= -inum= -samefile= -maxdepth= -mindepth= -empty -readable -writable -executable -print -print0 -printf= -ls -prune -not -o -or -a -and -true -false -depth -mount -xdev -daystart -follow -quit -noleaf -nouser -nogroup -regextype= -newermt= -lname= -ilname= -fstype= H L P !-delete !-exec !-execdir !-ok !-okdir !-fprint= !-fprint0= !-fprintf= !-fls="
	diffOptions  = "p|u|patch s|no-patch stat~ numstat shortstat dirstat~ summary name-only name-status raw cached staged U|unified= minimal patience histogram diff-algorithm= color~ no-color word-diff~ color-words~ abbrev~ full-index binary M~ C~ find-renames~ find-copies~ no-renames diff-filter= S= G= pickaxe-regex i|ignore-case w|ignore-all-space b|ignore-space-change ignore-blank-lines ignore-cr-at-eol R a|text exit-code q|quiet relative~ no-ext-diff no-textconv no-prefix W|function-context z merge-base check compact-summary submodule~ ignore-submodules~ !output="
	logOptions   = " # oneline graph decorate~ no-decorate all n|max-count= abbrev-commit no-abbrev-commit author= committer= since= after= until= before= grep= invert-grep regexp-ignore-case E F format= pretty~ date= follow merges no-merges first-parent reverse tags~ branches~ remotes~ L= topo-order date-order author-date-order left-right cherry-pick cherry-mark boundary skip= source notes~ no-notes t c cc m simplify-by-decoration !ext-diff !textconv !O="
	makeOptions  = "j~ jobs~ s|silent|quiet k|keep-going B|always-make w|print-directory no-print-directory O~ output-sync~ !n|just-print|dry-run|recon !t|touch !q|question !i|ignore-errors !C|directory= !f|file|makefile= !e|environment-overrides !I|include-dir= !o|old-file|assume-old= !W|what-if|new-file|assume-new= l~ !r|no-builtin-rules !R|no-builtin-variables !p|print-data-base !d trace !v|version !h|help S|no-keep-going !E|eval="
	rsyncOptions = "a|archive v|verbose z|compress h|human-readable P q|quiet t|times p|perms r|recursive l|links o|owner g|group D H|hard-links X|xattrs A|acls progress partial stats !n|dry-run !delete !del !delete-after !delete-before !delete-during !delete-excluded !exclude= !include= !u|update !existing !ignore-existing !remove-source-files !e|rsh= !rsync-path= !f|filter= !exclude-from= !include-from= !files-from= !b|backup !backup-dir= !suffix= !x|one-file-system !c|checksum !L|copy-links !i|itemize-changes !bwlimit= !chmod= !chown= !port= !password-file= !timeout= !W|whole-file !inplace !S|sparse !info= !R|relative !m|prune-empty-dirs !size-only !log-file= !list-only !out-format= !max-size= !min-size= !no-perms !no-owner !no-group !no-o !no-g !no-p !ignore-errors !force !link-dest= !compare-dest= !copy-dest= !append !numeric-ids !safe-links !mkpath !K !k !E !C !I !4 !6 !0 !T|temp-dir= !no-motd"
	kubeOptions  = "n|namespace= o|output= l|selector= context= cluster= v= request-timeout="
	ghOptions    = "json= q|jq= R|repo= L|limit= s|state= l|label= a|assignee= A|author= c|comments H|head= B|base= S|search="
)

// awkOperands accepts all literal operands of awk except those that contain >, because an awk
// program with > may print to a file.
var awkOperands = operands{max: unbounded, not: ">"}

// plainPrograms lists the programs and builtins that do not run any of their arguments.
var plainPrograms = setOf(`
	: true false cd pwd pushd popd dirs echo exit return break continue shift type which whereis umask ulimit kill killall pkill pgrep bg fg
	disown times help logout suspend caller sleep usleep ls dir vdir cat tac head tail wc nl od xxd hexdump strings cut paste tr fold fmt
	column expand unexpand uniq comm join diff diff3 cmp colordiff grep egrep fgrep zgrep ggrep look rev shuf seq yes factor bc expr
	basename dirname realpath readlink stat file du df free uptime uname hostname whoami id groups who w last date cal tty stty tput clear
	reset printenv locale nproc lscpu lsblk lsof ps top htop vmstat iostat dmesg journalctl cp mv rm rmdir mkdir touch ln link unlink chmod
	chown chgrp chattr lsattr truncate shred dd tee sync mktemp mkfifo mknod md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum
	sum b2sum shasum base64 base32 gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat lz4 unzip zipinfo 7z curl ping dig
	nslookup host traceroute ifconfig netstat ss whois tree exa eza yq xmllint tidy iconv dos2unix unix2dos nm objdump readelf size strip
	pstree mount umount service useradd usermod passwd logger getent apt-cache yum dnf apk pacman snap pytest eslint prettier tsc ruff black
	mypy flake8 isort gofmt goimports rustfmt clang-format clang-tidy javac shellcheck shfmt golangci-lint staticcheck vite next jest vitest
	mocha pyright protoc redis-cli open xdg-open pbcopy pbpaste xclip lsb_release sysctl modprobe lsmod trash rimraf shutdown reboot fdisk
	srm`)

// knownPrograms returns the parsed options of all programs.
var knownPrograms = sync.OnceValue(func() map[string]*optionTable {
	all := make(map[string]*optionTable, len(programs))
	for name, p := range programs {
		all[name] = parseOptions(p.options)
	}
	return all
})

// programOf returns a command's entry in programs, and the entry's options; see [entryOf].
func programOf(name string, args []arg) (p program, known *optionTable, lead int, ok bool) {
	p, lead, ok = entryOf(programs, name, args)
	known, _, _ = entryOf(knownPrograms(), name, args)
	return p, known, lead, ok
}

// entryOf returns the most specific table entry for a command, and the number of leading arguments
// that the entry's key contains. For example, this number is 2 for the key "git stash list".
func entryOf[T any](table map[string]T, name string, args []arg) (entry T, lead int, ok bool) {
	if len(args) > 0 && args[0].kind == literal {
		if len(args) > 1 && args[1].kind == literal {
			if entry, ok = table[name+" "+args[0].text+" "+args[1].text]; ok {
				return entry, 2, true
			}
		}
		if entry, ok = table[name+" "+args[0].text]; ok {
			return entry, 1, true
		}
	}
	entry, ok = table[name]
	return entry, 0, ok
}

var (
	// selfContained holds programs that never run anything named by their environment, their
	// configuration or another file. Other tables contain further such programs; isSelfContained
	// checks all of them.
	selfContained = setOf(`
	export declare typeset local readonly set shopt unset read mapfile readarray getopts wait printf eval trap let alias unalias hash env
	genv sudo doas nice ionice nohup timeout gtimeout time stdbuf setsid command builtin exec xargs find fd sed gsed awk gawk mawk sort jq`)
	// configurable holds the plainPrograms that may run something named by their environment, their
	// configuration or another file.
	configurable = setOf(`
	zgrep pytest eslint prettier tsc ruff black mypy flake8 isort gofmt goimports rustfmt clang-format clang-tidy javac shellcheck shfmt
	golangci-lint staticcheck vite next jest vitest mocha pyright protoc redis-cli open xdg-open yum dnf apk pacman snap service rimraf
	trash journalctl modprobe sysctl top htop useradd usermod mount umount apt-cache curl`)
)

// isSelfContained reports whether a program never runs anything named by its environment, its
// configuration or another file.
func isSelfContained(name string) bool {
	return selfContained[name] || programs[name].free || plainPrograms[name] && !configurable[name]
}
