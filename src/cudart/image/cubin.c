/* cubin.c - registers per thread from machine code.
 *
 * PTX is simulated, but the number of CTAs per SM depends on physical registers, which only the machine code beside
 * the PTX gives: in bits 24 to 31 of sh_info of section .text.KERNEL, and in .nv.info as attribute EIATTR_REGCOUNT
 * (format 4, attribute 0x2f, 8 bytes: symbol index, count), which takes precedence, since newer compilers leave the
 * former empty.
 */
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "cudart/image/fatbin.h"

enum { MACHINE_CUDA = 190, ATTR_FORMAT_SIZED = 4, ATTR_REGCOUNT = 0x2f };

struct cubin {
  Elf *elf;
  size_t names; /* section name table */
  Elf_Scn *symtab;
  GElf_Shdr symtab_head;
};

static const char *symbol_name(struct cubin *c, uint32_t index) {
  Elf_Data *d = c->symtab ? elf_getdata(c->symtab, NULL) : NULL;
  GElf_Sym sym;
  if (!d || index > INT32_MAX || !gelf_getsym(d, (int)index, &sym)) return NULL;
  return elf_strptr(c->elf, c->symtab_head.sh_link, sym.st_name);
}

/* .nv.info: records of a format byte, an attribute byte and either a 16-bit value or a 16-bit size and that many bytes.
 */
static void read_info(struct cubin *c, Elf_Scn *scn, void (*found)(void *, const char *, uint32_t), void *ctx) {
  Elf_Data *d = elf_rawdata(scn, NULL);
  if (!d || !d->d_buf) return;
  const uint8_t *p = d->d_buf;
  for (size_t at = 0; at + 4 <= d->d_size;) {
    uint16_t size;
    memcpy(&size, p + at + 2, 2);
    size_t body = at + 4, bytes = p[at] == ATTR_FORMAT_SIZED ? size : 0;
    if (bytes > d->d_size - body) return;
    if (p[at] == ATTR_FORMAT_SIZED && p[at + 1] == ATTR_REGCOUNT && bytes == 8) {
      uint32_t pair[2];
      memcpy(pair, p + body, sizeof pair);
      const char *name = symbol_name(c, pair[0]);
      if (name && *name && pair[1] >= 1 && pair[1] <= 255) found(ctx, name, pair[1]);
    }
    at = body + bytes;
  }
}

bool cubin_registers(const void *image, size_t bytes, void (*found)(void *ctx, const char *kernel, uint32_t regs),
                     void *ctx) {
  struct cubin c = {0};
  GElf_Ehdr head;
  if (elf_version(EV_CURRENT) == EV_NONE) return false;
  c.elf = elf_memory((char *)(uintptr_t)image, bytes);
  if (!c.elf) return false;
  bool good = elf_kind(c.elf) == ELF_K_ELF && gelf_getehdr(c.elf, &head) && head.e_machine == MACHINE_CUDA &&
              elf_getshdrstrndx(c.elf, &c.names) == 0;
  Elf_Scn *info = NULL;
  for (Elf_Scn *s = NULL; good && (s = elf_nextscn(c.elf, s));) {
    GElf_Shdr sh;
    if (!gelf_getshdr(s, &sh)) continue;
    const char *name = elf_strptr(c.elf, c.names, sh.sh_name);
    if (!name) continue;
    if (sh.sh_type == SHT_SYMTAB) c.symtab = s, c.symtab_head = sh;
    if (strcmp(name, ".nv.info") == 0) info = s;
    uint32_t regs = sh.sh_info >> 24;
    if (strncmp(name, ".text.", 6) == 0 && regs) found(ctx, name + 6, regs);
  }
  if (info) read_info(&c, info, found, ctx);
  elf_end(c.elf);
  return good;
}
