# install and uninstall: PREFIX (/usr/local), BINDIR, SBINDIR, LIBDIR,
# INCLUDEDIR and MANDIR say where to; DESTDIR goes before all of them.

pcdir = $(LIBDIR)/pkgconfig
man_pages := $(wildcard docs/man/*.[1-9])
unitdir = $(PREFIX)/share/doc/zrecord/systemd
units := $(wildcard packaging/systemd/*)
dest = $(DESTDIR)$(1)

# install_lib,NAME,HEADER
define install_lib
$(INSTALL) -m 644 $(B)/$(1).a $(call dest,$(LIBDIR))
$(INSTALL) -m 755 $(B)/$(1).so.$(SOVER) $(call dest,$(LIBDIR))
ln -sf $(1).so.$(SOVER) $(call dest,$(LIBDIR)/$(1).so)
$(INSTALL) -m 644 $(2) $(call dest,$(INCLUDEDIR))
sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' \
  -e 's|@includedir@|$(INCLUDEDIR)|' -e 's|@version@|$(VERSION)|' \
  -e 's|@msgpack@|$(MSGPACK)|' packaging/$(1).pc.in \
  > $(call dest,$(pcdir)/$(1).pc)
endef

.PHONY: install uninstall
install: all
	$(INSTALL) -d $(foreach d,$(BINDIR) $(SBINDIR) $(LIBDIR) $(pcdir) \
	  $(INCLUDEDIR),$(call dest,$(d)))
	$(INSTALL) -m 755 $(B)/zrecord $(call dest,$(BINDIR))
	$(call install_lib,libzrecord,engine/zrecord.h)
ifneq ($(fs_c),)
	$(INSTALL) -m 755 $(B)/zrecordfs $(call dest,$(BINDIR))
	ln -sf $(BINDIR)/zrecordfs $(call dest,$(SBINDIR)/mount.zrecordfs)
	$(INSTALL) -d $(call dest,$(unitdir))
	$(INSTALL) -m 644 $(units) $(call dest,$(unitdir))
endif
ifneq ($(loader_c),)
	$(call install_lib,libzloader,loader/zloader.h)
endif
	$(foreach m,$(man_pages),$(INSTALL) -D -m 644 $(m) \
	  $(call dest,$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) &&) :

uninstall:
	rm -f $(call dest,$(BINDIR)/zrecord) $(call dest,$(BINDIR)/zrecordfs) \
	  $(call dest,$(SBINDIR)/mount.zrecordfs) \
	  $(foreach l,libzrecord libzloader,$(foreach f,$(l).a $(l).so \
	  $(l).so.$(SOVER) pkgconfig/$(l).pc,$(call dest,$(LIBDIR)/$(f)))) \
	  $(call dest,$(INCLUDEDIR)/zrecord.h) \
	  $(call dest,$(INCLUDEDIR)/zloader.h) \
	  $(foreach u,$(units),$(call dest,$(unitdir)/$(notdir $(u)))) \
	  $(foreach m,$(man_pages),$(call \
	  dest,$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))))
