" Rules of petrigate
" no look at b:did_ftplugin: Vim takes them for rules of another program first
let b:did_ftplugin = 1
setlocal commentstring=#\ %s comments=:# formatprg=petrigate\ fmt\ -
let b:undo_ftplugin = 'setlocal commentstring< comments< formatprg<'
