# What an installation holds, and the .deb made of it. tools/package.sh stages its archive from the same rules.
#   <prefix>/bin/assay            <prefix>/share/assay/{web,policies}            <prefix>/share/doc/assay
# The pages and modules come from build/share/assay, where tools/lib/build.sh makes them.
include(GNUInstallDirs)

install(TARGETS assay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT assay)
if(TARGET assay-native-arm)
    install(TARGETS assay-native-arm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT assay)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/build/share/assay/ DESTINATION share/assay COMPONENT assay)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION share/doc/assay COMPONENT assay)
install(FILES ${CMAKE_SOURCE_DIR}/tools/packaging/assay.service ${CMAKE_SOURCE_DIR}/tools/packaging/assay-agent.service
        DESTINATION lib/systemd/system COMPONENT service)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "Assay")
set(CPACK_PACKAGE_CONTACT "the Assay maintainers <assay@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Browser-benchmark orchestrator that signs what it measured")
set(CPACK_PACKAGE_DESCRIPTION
    "Runs a small GPT trainer as WebAssembly and WebGPU in headless Chrome, in ABBA order on identical inputs, refuses\n software adapters, and keeps every step's time in a signed receipt that anyone can check offline.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "chromium | google-chrome-stable")
include(CPack)
