" Rules of petrigate; those of udev have the same ending.
autocmd BufNewFile,BufRead *.rules if expand('<afile>:p') !~# '/udev/' | set filetype=petrigate | endif
