-- A session of Neovim without a window: opens a model, waits for what the server says, asks for
-- this and that, and writes all answers as JSON.
local command, file, out = vim.env.SERVER, vim.env.MODEL, vim.env.ANSWERS
vim.cmd("edit " .. file)
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({
  name = "charon",
  cmd = vim.split(command, " "),
  root_dir = vim.fn.fnamemodify(file, ":h"),
})
vim.lsp.buf_attach_client(buffer, id)
local answers = {}
local PATIENCE = 300000 -- milliseconds, for what would never come

local function has(code)
  for _, found in ipairs(vim.diagnostic.get(buffer)) do
    if found.code == code then return true end
  end
  return false
end

local function ask(method, line, column, more)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = line, character = column },
  }
  local answer = vim.lsp.buf_request_sync(buffer, method, vim.tbl_extend("error", params, more or {}), PATIENCE)
  return answer and answer[id] and answer[id].result
end

vim.wait(PATIENCE, function() return has("single-equals") end, 50)
answers.broken = vim.diagnostic.get(buffer)
-- typed as a user types, so that Neovim tells the difference
vim.api.nvim_win_set_cursor(0, { 4, 18 })
vim.cmd("normal! a=")
answers.line = vim.api.nvim_buf_get_lines(buffer, 3, 4, false)[1]
vim.wait(PATIENCE, function() return #vim.diagnostic.get(buffer) == 0 end, 50)
answers.mended = vim.diagnostic.get(buffer)
answers.hover = ask("textDocument/hover", 3, 11)
answers.definition = ask("textDocument/definition", 12, 15)
answers.completion = ask("textDocument/completion", 3, 21)
answers.symbols = ask("textDocument/documentSymbol", 0, 0)
answers.lenses = ask("textDocument/codeLens", 0, 0)
local renamed = ask("textDocument/rename", 3, 11, { newName = "height" })
vim.lsp.util.apply_workspace_edit(renamed, vim.lsp.get_client_by_id(id).offset_encoding)
answers.renamed = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
answers.verdict = vim.lsp.buf_request_sync(buffer, "workspace/executeCommand", {
  command = "charon.verify",
  arguments = { answers.lenses[1].command.arguments[1] },
}, PATIENCE)[id].result
local stream = io.open(out, "w")
stream:write(vim.json and vim.json.encode(answers) or vim.fn.json_encode(answers))
stream:close()
vim.lsp.stop_client(id)
vim.wait(PATIENCE, function() return vim.lsp.get_client_by_id(id) == nil end, 50)
vim.cmd("qall!")
