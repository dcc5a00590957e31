// unit.cpp - capture of a unit's functions, and the new text.
#include "frontend/unit/unit.h"

#include <cstdlib>
#include <set>

#include "graph/file.h"
#include "graph/text.h"

namespace tc {

using namespace clang;
using llvm::StringRef;

void collect_message(void *self, tc_severity severity, tc_loc loc, const char *text) {
  auto *job = static_cast<FunctionJob *>(self);
  SourceLocation where = source_location(loc);
  job->messages.push_back(
      {severity, where.isValid() ? where : job->decl->getLocation(), text, {}, {}});
}

bool dump_wanted(StringRef name) {
  const char *list = std::getenv("TC_DUMP");
  llvm::SmallVector<StringRef, 8> names;
  StringRef(list ? list : "").split(names, ',');
  return llvm::is_contained(names, name) || llvm::is_contained(names, "all");
}

std::string graph_text(tc_graph *graph) {
  tc_buf out = {};
  tc_graph_print(graph, &out);
  std::string text(out.text ? out.text : "", out.len);
  tc_buf_free(&out);
  return text;
}

// tc_backward is never compiled; tc_grad and its kin are where the function is.  tc_jvp needs the
// gradient's own, which comes of the body alone.
static bool asks_for_gradients(const Stmt *s, bool compiled) {
  const auto *ref = llvm::dyn_cast_or_null<DeclRefExpr>(s);
  const auto *callee = ref ? llvm::dyn_cast<FunctionDecl>(ref->getDecl()) : nullptr;
  if (callee && callee->getDeclName().isIdentifier()) {
    const StringRef name = callee->getName();
    if (name == "tc_backward" || name == "tc_backward_with") return true;
    static const char *const captured[] = {"tc_grad", "tc_grad_with", "tc_vjp",
                                           "tc_value_and_grad"};
    if (!compiled && llvm::any_of(captured, [&](const char *each) { return name == each; }))
      return true;
  }
  return s && llvm::any_of(s->children(),
                           [=](const Stmt *child) { return asks_for_gradients(child, compiled); });
}

void Unit::look_at(const FunctionDecl *function) {
  differentiates |=
      asks_for_gradients(function->getBody(), find_attribute(function, compile_attribute));
  for (const Message &message : lost_results(context, function)) shell.show(message);
}

void Unit::run() {
  for (FunctionJob &f : functions) begin(f);
  load_profile();
  for (FunctionJob &f : functions) {
    capture(f);
    if (!options.save_graphs.empty() && !f.captured.segments.empty()) save(f);
  }
  if (shell.makes_code()) rewrite();
  verify();
  compile();
  for (FunctionJob &f : functions) show(f);
}

// Entries are local to their object: the name has to be unique in this file, and readable.
std::string Unit::symbol(const FunctionJob &f, size_t segment) const {
  std::string key = sources.getFilename(f.decl->getLocation()).str() + ":" + f.name;
  llvm::raw_string_ostream(key) << ":" << sources.getFileOffset(f.decl->getLocation()) << ":"
                                << segment;
  llvm::SmallString<32> hash;
  llvm::raw_svector_ostream(hash) << llvm::format_hex_no_prefix(tc_hash(key.data(), key.size(), 0),
                                                                16);
  return "__tc_" + f.name + "_" + std::string(hash);
}

void Unit::begin(FunctionJob &f) {
  f.name = f.decl->getNameAsString();
  f.options = options_of(f.decl, options);
  if (options.profile == Profile::Generate) f.options.fixed = false; // calls with any sizes count
  f.settings = f.options.settings_for_backends();
  f.diag = {collect_message, &f};
  PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(f.decl->getLocation()));
  f.file = place.isValid() ? place.getFilename() : "";
  f.obstacle = rewriter.obstacle(f.decl);
  if (shell.precompiles() || sources.isLoadedSourceLocation(f.decl->getLocation()))
    f.obstacle = "it is in a precompiled header or module; define it in a source file";
  f.objection = shell.objection(f.decl);
  if (!f.objection) return;
  f.obstacle = f.objection->text;
  if (f.options.fullgraph) f.objection->severity = TC_ERROR;
}

void Unit::capture(FunctionJob &f) {
  if (!check_redeclared(f.decl, [&f](Message m) { f.messages.push_back(std::move(m)); })) return;
  if (f.options.disable) return;
  if (tc_chose_eager(&f.options.backends)) return f.stays();
  if (std::string why = shell.unsupported_target(); !why.empty()) return f.missed(why);
  if (f.objection) return f.messages.push_back(*f.objection);
  if (!f.obstacle.empty()) return f.missed(f.obstacle);
  std::vector<Sizes> variants = variants_of(f.decl);
  const std::vector<Sizes> dtypes =
      dtype_choices(f.decl, [&f](Message m) { f.messages.push_back(std::move(m)); });
  for (Sizes &sizes : profile_variants(f, variants, dtypes.size())) variants.push_back(sizes);
  const bool any = !f.options.fixed || variants.empty();
  variants = with_dtypes(variants, dtypes, any);
  variants = with_autocasts(variants, dtypes, any, f.options.autocasts);
  for (const Sizes &sizes : variants)
    if (!sizes.profiled || has_room(f, sizes)) capture_variant(f, sizes);
  if (any) capture_any(f, dtypes.empty() ? nullptr : &dtypes.back());
  for (const Sizes &sizes : variants) drop_equal(f, sizes);
  for (size_t i = 0; i < f.captured.segments.size(); i++) {
    Segment &segment = f.captured.segments[i];
    segment.symbol = symbol(f, i);
    const bool both = !segment.variant.empty() && !segment.choices.empty();
    segment.made_for = segment.variant + (both ? ", " : "") + segment.choices;
    if (dump_wanted("capture"))
      llvm::errs() << "; after capture\n" << graph_text(segment.graph.get());
  }
}

// save-graphs=FOLDER
void Unit::save(FunctionJob &f) {
  tc_buf out = {};
  const uint32_t line = sources.getPresumedLineNumber(sources.getFileLoc(f.decl->getLocation()));
  tc_file_put_head(f.name.c_str(), f.file.c_str(), line, &out);
  for (const Segment &segment : f.captured.segments)
    tc_file_put_graph(segment.graph.get(), segment.made_for.c_str(), &out);
  tc_file_put_end(&out);
  llvm::SmallString<128> path(options.save_graphs);
  std::error_code error = llvm::sys::fs::create_directories(path);
  llvm::sys::path::append(path, f.name + ".tcg");
  if (!error && !out.failed) {
    llvm::raw_fd_ostream file(path, error);
    if (!error) file << StringRef(out.text, out.len);
    file.close();
    if (!error) error = file.error();
    file.clear_error();
  }
  const std::string why = out.failed ? "out of memory" : error ? error.message() : "";
  tc_buf_free(&out);
  if (!why.empty())
    f.messages.push_back(
        {TC_WARNING,
         f.decl->getLocation(),
         "the graphs of '" + f.name + "' are not saved: " + std::string(path) + ": " + why,
         {},
         {}});
}

// ---- the new text -------------------------------------------------------------------------------

// Scopes of bodies rely on each other (a call of a function that has one is seen into): all of
// them, or none.
void Unit::rewrite() {
  std::set<const FunctionDecl *> scoped;
  for (FunctionJob &f : functions)
    if (f.obstacle.empty()) scoped.insert(f.decl);
  Owners owners(context, scoped);
  std::vector<const Ownership *> scopes;
  for (FunctionJob &f : functions) {
    const Ownership *own = f.obstacle.empty() ? owners.of(f.decl) : nullptr;
    if (own && own->wanted() && !own->obstacle.empty()) f.no_scope(own->obstacle);
    const bool fits = own && own->wanted() && own->obstacle.empty();
    scopes.push_back(fits ? own : nullptr);
  }
  for (size_t i = 0; i < functions.size(); i++) insert(functions[i], scopes[i]);
  for (size_t i = 0; i < functions.size(); i++)
    if (scopes[i] && !insert_scope(functions[i], *scopes[i])) {
      rewriter.withdraw_scopes();
      return;
    }
}

// A scope that no call needs stands behind them (insert_scope).
void Unit::insert(FunctionJob &f, const Ownership *scope) {
  f.scope_open = scope &&
                 llvm::any_of(f.captured.segments, [](const Segment &s) { return !s.whole; }) &&
                 rewriter.open_scope(f.decl).empty();
  for (const Segment &segment : f.captured.segments) {
    std::string why = rewriter.insert(f.decl, segment, f.scope_open ? scope : nullptr);
    if (why.empty()) continue;
    rewriter.withdraw(f.decl);
    f.scope_open = false;
    f.captured.segments.clear();
    return f.missed(why + "; write its braces and statements in the file");
  }
}

bool Unit::insert_scope(FunctionJob &f, const Ownership &scope) {
  std::string why = f.scope_open ? "" : rewriter.open_scope(f.decl);
  if (why.empty()) why = rewriter.insert_exits(f.decl, scope.exits);
  if (!why.empty()) f.no_scope(why);
  f.scoped = true;
  return why.empty();
}

// Functions that would not read as before with their calls in them are left alone.
void Unit::verify() {
  std::vector<const FunctionDecl *> list;
  bool scopes_fit;
  for (FunctionJob &f : functions)
    if (!f.captured.segments.empty() || f.scoped) list.push_back(f.decl);
  for (const Suspect &suspect : shell.check(rewriter, list, scopes_fit))
    for (FunctionJob &f : functions) {
      if (f.decl != suspect.function) continue;
      f.captured.segments.clear();
      f.missed("calls of kernels cannot be put between its statements (" + suspect.why +
               "); write one statement a line, without macros and labels of the block");
    }
  for (FunctionJob &f : functions)
    if (f.scoped && !scopes_fit) f.no_scope("the text cannot be changed where tensors leave");
}

} // namespace tc
