vim.filetype.add({ pattern = { [".*%.md%.j2"] = "markdown" } })
vim.lsp.config("findings", {
  cmd = { "findings", "lsp" },
  filetypes = { "markdown" },
  root_markers = { "findings" },
})
vim.lsp.enable("findings")
