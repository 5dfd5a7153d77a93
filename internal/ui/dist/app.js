var D,Ar,Rn,Be,Cn,Ht,Rr,Bt,Pr,Pn,An,Ds,bt=Symbol.for("pv"),jt={},Ft=[],Is=/^m(i|n|o|s|text|space)$/,En=Array.isArray,$n=Ft.slice,Ke=Object.assign;function ze(e){
e&&e.parentNode&&e.remove()}function Er(e,t,r){var a,s,o,i={},c=arguments.length;for(o in t)o=="key"?a=t[o]:o=="ref"&&typeof e!="function"?s=t[o]:i[o]=t[o];return c>
2&&(i.children=c>3?$n.call(arguments,2):r),_t(e,i,a,s,null)}function _t(e,t,r,a,s){var o={type:e,props:t,key:r,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:bt,__v:s||++Ar,__i:-1,__u:0};return!s&&D.vnode&&D.
vnode(o),o}function b(e){return e.children}function at(e,t){this.props=e,this.context=t,this.__g=0}function Me(e,t){if(t==null)return e.__&&Me(e.__,e.__i+1);for(var r;t<e.
__k.length;t++)if((r=e.__k[t])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Me(e)}function Ls(e){var t,r=e.__v,a=r.__e,s=[],o=[],i=e.__P;
i&&((t=Ke({constructor:bt},r)).__v=r.__v+1,D.vnode&&D.vnode(t),On(i,t,r,e.__n,i.namespaceURI,32&r.__u?[a]:null,s,a||Me(r),32&r.__u,o),t.__v=r.__v,t.__.__k[t.__i]=
t,Lr(s,t,o),r.__=r.__e=null,t.__e!=a&&$r(t))}function $r(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),
$r(e)}function Tr(e){(8&e.__g||(e.__g|=8,Be.push(e),Ht++))&&Cn==D.debounceRendering||((Cn=D.debounceRendering)||queueMicrotask)(Or)}function Or(){try{for(var e,
t=1;Be.length;)Be.length>t&&Be.sort(Rr),e=Be.shift(),t=Be.length,8&e.__g&&Ls(e)}finally{(Ht=Be.length)&&(Cn||queueMicrotask)(Or)}}function Nr(e,t,r,a,s,o,i,c,u,l,d){
var p,h,f,y,T,_,w=a.__k||Ft,v=t.length;for(u=Us(r,t,w,u,v),p=0;p<v;p++)(f=r.__k[p])!=null&&(h=~f.__i&&w[f.__i]||jt,f.__i=p,_=On(e,f,h,s,o,i,c,u,l,d),y=f.__e,(h.
ref!=f.ref||8&h.__u)&&(h.ref&&Nn(h.ref,null,f,h),f.ref&&d.push(f.ref,f.__c||y,f)),T=T||y,4&f.__u?(u=Dr(f,u,e,!h.__v),h.__e&&(h.__e=null)):typeof f.type=="functi\
on"&&_!==void 0?u=_:y&&(u=y.nextSibling),f.__u&=-21);return r.__e=T,u}function Us(e,t,r,a,s){var o,i,c,u,l,d,p,h,f,y=r.length,T=y,_=0,w=0,v=e.__k=Array(s);for(o=
0;o<s;o++)(i=t[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=v[o]=_t(null,i):En(i)?i=v[o]=_t(b,{children:i}):
i.constructor===bt&&i.__b?i=v[o]=_t(i.type,i.props,i.key,i.ref,i.__v):v[o]=i,u=o+_,i.__=e,i.__b=e.__b+1,c=null,~(l=i.__i=Bs(i,r,u,T))&&(T--,(c=r[l])&&(c.__u|=2)),
c&&c.__v?(i.__u|=16,l==u-1?_--:l==u+1?_++:l!=u&&(l>u?_--:_++,w=1)):(~l||(s>y?_--:s<y&&_++),typeof i.type!="function"&&(i.__u|=4))):v[o]=null;if(w){for(d=[],p=[],
o=0;o<s;o++)if((i=v[o])&&16&i.__u){for(_=0,h=d.length;_<h;)d[f=_+h>>1]<i.__i?_=f+1:h=f;d[_]=i.__i,p[o]=_+1}for(_=d.length;o--;)p[o]&&(p[o]==_?_--:v[o].__u|=4)}if(T)
for(o=0;o<y;o++)!(c=r[o])||2&c.__u||(c.__e==a&&(a=Me(c)),Dn(c,c));return a}function Dr(e,t,r,a){var s,o,i,c;if(typeof e.type=="function"){if(e.props.__P)return t;
if(s=e.__k)for(o=0;o<s.length;o++)s[o]&&(s[o].__=e,t=Dr(s[o],t,r,!1));return t}for(t&&!t.parentNode&&(t=Me(e))&&!t.parentNode&&(t=null),i=e.__e,c=t;c&&c.nodeType==
8;)c=c.nextSibling;for(i!=c&&(!a&&r.moveBefore&&i.parentNode?r.moveBefore(i,t):r.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(
"$s"););return t}function Bs(e,t,r,a){var s,o=e.key,i=e.type,c=t[r],u=c&&!(2&c.__u);if(c===null&&o==null||u&&o==c.key&&i==c.type)return r;if(a>(u?1:0)){for(s=r-1;s>=0;s--)if((c=
t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s;for(s=r+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s}return-1}function Cr(e,t,r){r==null&&
(r=""),t[0]=="-"?e.setProperty(t,r):e[t]=r}function Ut(e,t,r,a,s){var o,i;if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof a=="string"&&(e.style.
cssText=a=""),a)for(t in a)r&&t in r||Cr(e.style,t);if(r)for(t in r)a&&r[t]==a[t]||Cr(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")typeof r!="function"&&(r=null),
typeof a!="function"&&(a=null),(e.__e||(e.__e={}))[t]=r,r&&a||(i=An[t]||(An[t]=Ms(t)),(e.__a||(e.__a={}))[t]=Pn,o=t!=(t=t.replace(Pr,"$1")),(t=t.slice(2))[0]<"a"&&
(t=t.toLowerCase()),r?e.addEventListener(t,i,o):e.removeEventListener(t,i,o));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)
try{return void(e[t]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r)}}function Ms(e){
return function(t){var r=this.__e;if(r){if(r=r[e],t[Bt]==null)t[Bt]=Pn++;else if(t[Bt]<this.__a[e])return;return r(D.event?D.event(t):t)}}}function On(e,t,r,a,s,o,i,c,u,l){
var d,p,h,f,y,T,_,w,v,g,x,$,M,he,Y,Z,F,L,U=t.type;if(t.constructor!==bt)return null;128&r.__u&&(u=32&r.__u,d=r.__c.__z)&&(t.__u|=u,p=o=[],d.nodeType==8?c=Mt(d,o):
o.push(d),c=o[0]||c),(d=D.__b)&&d(t);e:if(typeof U=="function"){h=i.length;try{if(w=t.props,v=(d=U.prototype)&&d.render,g=(d=U.contextType)&&a[d.__c],x=d?g?g.props.
value:d.__:a,(f=r.__c)?(t.__c=f,2&f.__g&&(f.__g|=1)):(v?t.__c=f=new U(w,x):(t.__c=f=new at(w,x),f.constructor=U,f.render=js),g&&g.sub(f),f.state||(f.state={}),f.
__n=a,f.__g|=8,f.__h=[],f.__k=[]),v&&(f.__s||(f.__s=f.state),U.getDerivedStateFromProps&&(f.__s==f.state&&(f.__s=Ke({},f.__s)),Ke(f.__s,U.getDerivedStateFromProps(
w,f.__s)))),y=f.props,T=f.state,f.__v=t,r.__c){if(w!==y&&v&&!U.getDerivedStateFromProps&&f.componentWillReceiveProps&&f.componentWillReceiveProps(w,x),t.__v==r.
__v&&!(8&f.__g)||!(4&f.__g)&&f.shouldComponentUpdate&&f.shouldComponentUpdate(w,f.__s,x)===!1){t.__v!=r.__v&&(f.props=w,f.state=f.__s,f.__g&=-9),t.__e=r.__e,t.__k=
r.__k,t.__k.some(function(J){J&&(J.__=t)}),Ft.push.apply(f.__h,f.__k),f.__k=[],f.__h.length&&i.push(f),c=Me(r);break e}f.componentWillUpdate&&f.componentWillUpdate(
w,f.__s,x),v&&f.componentDidUpdate&&f.__h.push(function(){f.componentDidUpdate(y,T,_)})}else v&&!U.getDerivedStateFromProps&&f.componentWillMount&&f.componentWillMount(),
v&&f.componentDidMount&&f.__h.push(f.componentDidMount);f.context=x,f.props=w,f.__P=e,f.__g&=-5,$=D.__r,M=v?25:0;do f.__g&=-9,$&&$(t),d=f.render(f.props,f.state=
f.__s,f.context);while(8&f.__g&&++M<25);v&&(Ft.push.apply(f.__h,f.__k),f.__k=[]),f.state=f.__s,f.getChildContext&&(a=Ke({},a,f.getChildContext())),v&&r.__c&&f.getSnapshotBeforeUpdate&&
(_=f.getSnapshotBeforeUpdate(y,T)),he=d&&d.type===b&&d.key==null?d.props.children:d,w.__P&&(d=c,s=(e=w.__P).namespaceURI,u=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(J){J&&Dn(J,J)}),r.__k=null),c=r.__k?Me(r,0):null),c=Nr(e,En(he)?he:[he],t,r,a,s,o,i,c,u,l),w.__P&&(t.__e=null,c=d),t.__u&=-161,p&&p.some(ze),f.__h.
length&&i.push(f),1&f.__g&&(f.__g&=-4)}catch(J){if(i.length=h,t.__v=null,u||o)if(J&&J.then){if(t.__u|=128|u,o){for(~(F=o.indexOf(c||void 0))||(F=o.length);(L=o[F-
1])&&L.nodeType==8;)F--;for(;F<o.length;F++)if(L=o[F])if(o[F]=null,Y){if(L==Z)break}else{if(L.nodeType!=8)break;L.data.startsWith("$s")&&(Z=Mt(Y=L))}}if(!Y){for(;c&&
c.nodeType==8&&c.nextSibling;)c=c.nextSibling;Y=c}(d=Mt(Y=t.__c.__z||(t.__c.__z=Y)))?(t.__e=Y,c=d):t.__e=c,c=c&&c.nextSibling}else o&&o.some(ze);else t.__e=r.__e;
t.__k||(t.__k=r.__k||[]),J&&J.then||Ir(t),D.__e(J,t,r)}}else c=t.__e=Hs(r.__e,t,r,a,s,o,i,u,l,e);return(d=D.diffed)&&d(t),c}function Mt(e,t){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}t&&t.push(
e)}}function Ir(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Ir))}function Lr(e,t,r){for(var a=0;a<r.length;)Nn(r[a++],r[a++],r[a++]);D.__c&&D.__c(t,e),e.some(
function(s){try{e=s.__h,s.__h=[],e.some(function(o){o.call(s)})}catch(o){D.__e(o,s.__v)}})}function Hs(e,t,r,a,s,o,i,c,u,l){var d,p,h,f,y,T,_,w,v=r.props||jt,g=t.
props,x=t.type;if(x=="svg"?s="http://www.w3.org/2000/svg":x=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),o){for(d=0;d<o.
length;d++)if((y=o[d])&&(x?y.localName==x:y.nodeType==3)){e=y,o[d]=null;break}}if(!e){if(w=l.ownerDocument||document,!x)return w.createTextNode(g);e=w.createElementNS(
s,x,g.is?g:l),c&&(D.__m&&D.__m(t,o),c=!1),o=null}if(x){if(l=x=="template"&&e.content||e,o=x=="textarea"&&g.defaultValue!=null?null:o&&$n.call(l.childNodes),!c&&
o)for(v={},d=0;d<e.attributes.length;d++)v[(y=e.attributes[d]).name]=y.value;for(d in v)y=v[d],d=="dangerouslySetInnerHTML"?h=y:d=="children"||d in g||d=="value"&&
"defaultValue"in g||d=="checked"&&"defaultChecked"in g||Ut(e,d,null,y,s);for(d in g)y=g[d],d=="children"?f=y:d=="dangerouslySetInnerHTML"?p=y:d=="value"?T=y:d==
"checked"?_=y:c&&typeof y!="function"||v[d]===y||Ut(e,d,y,v[d],s);p?(c||h&&(p.__html==h.__html||p.__html==e.innerHTML)||(e.innerHTML=p.__html),t.__k=[]):(h&&(e.
textContent=""),(x=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Is.test(x))&&(s="http://www.w3.org/1999/xhtml"),Nr(l,En(f)?f:[f],t,r,a,s,o,i,o?o[0]:
r.__k&&Me(r,0),c,u),o&&o.some(ze)),c&&x!="textarea"||(d="value",x=="progress"&&T==null?e.removeAttribute(d):T==null||T===e[d]&&(x!="progress"||T)||Ut(e,d,T,v[d],
s),d="checked",_!=null&&_!=e[d]&&Ut(e,d,_,v[d],s))}else v===g||c&&e.data==g||(e.data=g);return e}function Nn(e,t,r,a){try{typeof e=="function"?t?t.__x=e(t)||1:a&&
(a=a.__c||a.__e)&&(t=a.__x)&&(a.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){D.__e(s,r)}}function Dn(e,t,r){var a,s,o,i;if(D.unmount&&D.unmount(
e),!(a=e.ref)||a.current&&a.current!=e.__e||Nn(a,null,t,e),a=e.__c){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(c){D.__e(c,t)}a.__P=a.__n=null}
if(a=e.__k)for(i=0;i<a.length;i++)a[i]&&Dn(a[i],t,typeof e.type!="function"||r&&!e.props.__P);!r&&(a=e.__c)&&(a=a.__z)&&(s=Mt(a,o=[]))&&(a==e.__e&&o.some(ze),ze(
s),ze(a)),r||ze(e.__e),e.__e=e.__c=e.__=null}function js(e,t,r){return this.constructor(e,r)}function Ur(e,t){var r,a,s,o;D.__&&D.__(e,t),t.nodeType==9&&(t=t.documentElement),
a=(r=e&&32&e.__u)?null:t.__k,t.__k=_t(b,{children:[e]}),s=[],o=[],On(t,t.__k,a||jt,jt,t.namespaceURI,a?null:t.firstChild?$n.call(t.childNodes):null,s,a?a.__e:t.
firstChild,r,o),Lr(s,t.__k,o),t.__k.props.children=null}D={__e:function(e,t,r,a){for(var s,o,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(o=s.constructor)&&o.getDerivedStateFromError)&&s.setState(o.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,a||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw Ht=0,e}},Ar=0,Rn=function(e){return e!=null&&e.
constructor===bt},at.prototype.setState=function(e,t){var r=this.__s;r&&r!=this.state||(r=this.__s=Ke({},this.state)),typeof e=="function"&&(e=e(Ke({},r),this.props)),
e&&(Ke(r,e),this.__v&&(t&&this.__k.push(t),Tr(this)))},at.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Tr(this))},at.prototype.render=
b,Be=[],Ht=0,Rr=function(e,t){return e.__v.__b-t.__v.__b},Bt=Symbol(),Pr=/(PointerCapture)$|Capture$/i,Pn=0,An={},Ds=0;var Ve,X,In,Br,Ln=Object.is,Jt=0,Kr=[],Un=[],Q=D,Mr=Q.__b,Hr=Q.__r,jr=Q.diffed,Fr=Q.__c,Jr=Q.unmount,qr=Q.__;function wt(e,t){Q.__h&&Q.__h(X,e,Jt||t),Jt=0;var r=X.
__H||(X.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function m(e){return Jt=1,Fs(Vr,e)}function Fs(e,t,r){var a=wt(Ve++,2);if(a.t=e,!a.__c&&
(a.__=[r?r(t):Vr(void 0,t),function(o){var i=(a.__N||a.__)[0],c=a.t(i,o);Ln(i,c)||(a.__N=[c,a.__[1]],a.__c.setState({}))}],a.__c=X,!X.__f)){X.__f=!0;var s=X.shouldComponentUpdate;
X.shouldComponentUpdate=function(o,i,c){var u=this.__H;if(!u)return!0;var l=!1,d=this.props!=o;if(u.__.some(function(h){h.__N&&(l=!0,Ln(h.__[0],h.__N[0])||(d=!0))}),
s){var p=s.call(this,o,i,c);return l?p||d:p}return!l||d}}return a.__}function ee(e,t){var r=wt(Ve++,3);!Q.__s&&Mn(r.__H,t)&&(r.__P=!0,r.__=e,r.u=t,X.__H.__h.push(
r))}function qt(e,t){var r=wt(Ve++,4);!Q.__s&&Mn(r.__H,t)&&(r.__P=!1,r.__=e,r.u=t,X.__h.push(r))}function te(e){return Jt=5,Wt(function(){return{current:e}},[])}function Wt(e,t){var r=wt(Ve++,7);return Mn(r.__H,t)&&(r.__=e(),r.__H=t),r.__}function kt(){var e=wt(Ve++,11);if(!e.__){for(var t=X.__v;!t.__m&&t.__;)t=t.__;var r=t.__m||(t.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Js(){var e;
do{for(;e=Un.shift();)try{vt(e)}catch(r){Q.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=Kr.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(vt),t.__h.some(Bn),t.__h=[]}catch(r){
t.__h=[],Q.__e(r,e.__v)}}}while(Un.length)}Q.__b=function(e){X=null,Mr&&Mr(e)},Q.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),qr&&qr(e,t)},Q.__r=function(e){
Hr&&Hr(e),Ve=0;var t=(X=e.__c).__H;t&&(In==X?X.__h=[]:(t.__h.some(vt),t.__h.some(Bn),Ve=0),t.__h=[],t.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
In=X},Q.diffed=function(e){jr&&jr(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&zr(Kr.push(t)),t.__H.__.some(function(r){r.u&&(r.__H=r.u)})),In=X=null},Q.__c=function(e,t){
t.some(function(r){try{r.__h.some(vt),r.__h=r.__h.filter(function(a){return!a.__||Bn(a)})}catch(a){r.__h=[function(){throw a}]}}),Fr&&Fr(e,t)},Q.unmount=function(e){
Jr&&Jr(e);var t,r,a=e.__c;a&&a.__H&&(a.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
zr(Un.push(s))}else vt(s)}catch(o){t=o}}),a.__H=void 0,t&&Q.__e(t,a.__v))};var Wr=typeof requestAnimationFrame=="function";function qs(e){var t,r=function(){clearTimeout(
a),Wr&&cancelAnimationFrame(t),setTimeout(e)},a=setTimeout(r,35);Wr&&(t=requestAnimationFrame(r))}function zr(e){e!=1&&Br==Q.requestAnimationFrame||((Br=Q.requestAnimationFrame)||
qs)(Js)}function vt(e){var t=X,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),X=t}function Bn(e){var t=X;e.__c=e.__(),X=t}function Mn(e,t){return!e||e.length!=
t.length||t.some(function(r,a){return!Ln(r,e[a])})}function Vr(e,t){return typeof t=="function"?t(e):t}var Ws=Symbol.for("preact-signals");function Zt(){if(Ne>1)Ne--;else{var e,t=!1;for((function(){var s=Kt;for(Kt=void 0;s!==void 0;){var o=s.S;if(o.v===s.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=o.i);s=s.o}})();St!==void 0;){var r=St;for(St=void 0,zt++;r!==void 0;){var a=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&Gr(r))try{r.
c()}catch(s){t||(e=s,t=!0)}r=a}}if(zt=0,Ne--,t)throw e}}function jn(e){if(Ne>0)return e();Hn=++zs,Ne++;try{return e()}finally{Zt()}}var xt,z=void 0;function Tt(e){
var t=z,r=xt;z=void 0,xt=void 0;try{return e()}finally{z=t,xt=r}}var St=void 0,Ne=0,zt=0,zs=0,Hn=0,Kt=void 0,Vt=0;function Zr(e){if(z!==void 0){var t=e.n;if(t===
void 0||t.t!==z)return t={i:0,S:e,p:z.s,n:void 0,t:z,e:void 0,x:void 0,r:t},z.s!==void 0&&(z.s.n=t),z.s=t,e.n=t,32&z.f&&e.S(t),t;if(t.i===-1)return t.i=0,t.n!==
void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=z.s,t.n=void 0,z.s.n=t,z.s=t),t}}function ae(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
t?.watched,this.Z=t?.unwatched,this.name=t?.name}ae.prototype.brand=Ws;ae.prototype.h=function(){return!0};ae.prototype.S=function(e){var t=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:Tt(function(){var a;(a=t.W)==null||a.call(t)}))};ae.prototype.U=function(e){var t=this;if(this.t!==void 0){var r=e.
e,a=e.x;r!==void 0&&(r.x=a,e.e=void 0),a!==void 0&&(a.e=r,e.x=void 0),e===this.t&&(this.t=a,a===void 0&&Tt(function(){var s;(s=t.Z)==null||s.call(t)}))}};ae.prototype.
subscribe=function(e){var t=this;return be(function(){var r=t.value;Tt(function(){return e(r)})},{name:"sub"})};ae.prototype.valueOf=function(){return this.value};
ae.prototype.toString=function(){return this.value+""};ae.prototype.toJSON=function(){return this.value};ae.prototype.peek=function(){var e=this;return Tt(function(){
return e.value})};Object.defineProperty(ae.prototype,"value",{get:function(){var e=Zr(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if(zt>100)throw new Error("Cycle detected");(function(r){Ne!==0&&zt===0&&r.l!==Hn&&(r.l=Hn,Kt={S:r,v:r.v,i:r.i,o:Kt})})(this),this.v=e,this.i++,Vt++,Ne++;try{
for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{Zt()}}}});function K(e,t){return new ae(e,t)}function Gr(e){for(var t=e.s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.
S.h()||t.S.i!==t.i)return!0;return!1}function Yr(e){for(var t=e.s;t!==void 0;t=t.n){var r=t.S.n;if(r!==void 0&&(t.r=r),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function Qr(e){for(var t=e.s,r=void 0;t!==void 0;){var a=t.p;t.i===-1?(t.S.U(t),a!==void 0&&(a.n=t.n),t.n!==void 0&&(t.n.p=a)):r=t,t.S.n=t.r,t.r!==void 0&&(t.r=
void 0),t=a}e.s=r}function Ze(e,t){ae.call(this,void 0,t),this.x=e,this.s=void 0,this.g=Vt-1,this.f=4}Ze.prototype=new ae;Ze.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Vt))return!0;if(this.g=Vt,this.f|=1,this.i>0&&!Gr(this))return this.f&=-2,!0;var e=z;try{Yr(this),z=this;
var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return z=e,Qr(this),this.f&=-2,!0};Ze.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}ae.prototype.S.call(this,e)};Ze.prototype.U=function(e){if(this.
t!==void 0&&(ae.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};Ze.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(Ze.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Zr(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function Ge(e,t){return new Ze(e,t)}function Xr(e){var t=e.j;if(e.j=void 0,typeof t==
"function"){Ne++;var r=z;z=void 0;try{t()}catch(a){throw e.f&=-2,e.f|=8,Fn(e),a}finally{z=r,Zt()}}}function Fn(e){for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,
e.s=void 0,Xr(e)}function Ks(e){if(z!==this)throw new Error("Out-of-order effect");Qr(this),z=e,this.f&=-2;try{8&this.f&&Fn(this)}finally{Zt()}}function st(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,xt&&xt.push(this)}st.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var t=this.x();typeof t=="function"&&(this.j=t)}finally{e()}};st.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,Xr(this),Yr(this),Ne++;var e=z;return z=this,Ks.bind(this,e)};st.prototype.N=function(){2&this.f||(this.f|=2,this.u=St,St=this)};st.prototype.d=function(){
this.f|=8,1&this.f||Fn(this)};st.prototype.dispose=function(){this.d()};function be(e,t){var r=new st(e,t);try{r.c()}catch(s){throw r.d(),s}var a=r.d.bind(r);return a[Symbol.
dispose]=a,a}var ea,Yt,Gt,Vs=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var ta=[];be(function(){ea=this.N})();function ot(e,t){D[e]=t.bind(null,D[e]||function(){})}function Ct(e){if(Gt){var t=Gt;Gt=void 0,t()}Gt=e&&e.S()}function na(e){
var t=this,r=e.data,a=Gs(r);a.name="ReactiveDom",a.value=r;var s=Wt(function(){for(var c=t,u=t.__v;u=u.__;)if(u.__c){u.__c.__$f|=4;break}var l=Ge(function(){var f=a.
value.value;return f===0?0:f===!0?"":f||""}),d=Ge(function(){return!Array.isArray(l.value)&&!Rn(l.value)}),p=be(function(){if(this.N=ra,d.value){var f=l.value;c.
__v&&c.__v.__e&&c.__v.__e.nodeType===3&&(c.__v.__e.data=f)}}),h=t.__$u.d;return t.__$u.d=function(){p(),h.call(this)},[d,l]},[]),o=s[0],i=s[1];return o.value?i.
peek():i.value}na.displayName="ReactiveTextNode";Object.defineProperties(ae.prototype,{constructor:{configurable:!0,value:Er(b,null).constructor},type:{configurable:!0,
value:na},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});ot("__b",function(e,t){if(Ct(),
Yt=void 0,typeof t.type=="string"){var r,a=t.props;for(var s in a)if(s!=="children"){var o=a[s];o instanceof ae&&(r||(t.__np=r={}),r[s]=o,a[s]=o.peek())}}e(t)});
ot("__r",function(e,t){if(e(t),t.type!==b){Ct();var r,a=t.__c;a&&(a.__$f&=-2,(r=a.__$u)===void 0&&(a.__$u=r=(function(s,o){var i;return be(function(){i=this},{name:o}),
i.c=s,i})((function(s){return function(){var o;Vs&&((o=this.y)==null||o.call(this)),s.__$f|=1,s.setState({})}})(a),typeof t.type=="function"?t.type.displayName||
t.type.name:""))),Yt=a,Ct(r)}});ot("__e",function(e,t,r,a){Ct(),Yt=void 0,e(t,r,a)});ot("diffed",function(e,t){Ct(),Yt=void 0;var r;if(typeof t.type=="string"&&
(r=t.__e)){var a=t.__np,s=t.props,o=r.U;if(o)for(var i in o){var c=o[i];c===void 0||a&&i in a||(c.d(),o[i]=void 0)}if(a){o||(o={},r.U=o);for(var u in a){var l=o[u],
d=a[u];l===void 0?(l=Zs(r,u,d,s),o[u]=l):l.o(d,s)}}}e(t)});function Zs(e,t,r,a){var s=t in e&&e.ownerSVGElement===void 0,o=K(r);return{o:function(i,c){o.value=i,
a=c},d:be(function(){this.N=ra;var i=o.value.value;a[t]!==i&&(a[t]=i,s?e[t]=i:i!=null&&(i!==!1||t[4]==="-")?e.setAttribute(t,i):e.removeAttribute(t))})}}ot("unm\
ount",function(e,t){if(typeof t.type=="string"){var r=t.__e;if(r){var a=r.U;if(a){r.U=void 0;for(var s in a){var o=a[s];o&&o.d()}}}var i=t.__np;if(i){var c=t.props;
for(var u in i)c[u]=i[u]}t.__np=void 0}else{var l=t.__c;if(l){l.__$f|=8;var d=l.__$u;d&&(l.__$u=void 0,d.d())}}e(t)});ot("__h",function(e,t,r,a){a<3&&(t.__$f|=2),
e(t,r,a)});at.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var r=this.__$u,a=r&&r.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(a||o||4&this.__$f)||1&this.__$f)return!0}else if(!(a||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var c in this.props)if(!(c in e))return!0;return!1};function Gs(e,t){return Wt(function(){return K(e,t)},[])}var Ys=function(e){queueMicrotask(function(){queueMicrotask(e)})};function Qs(){jn(function(){for(var e;e=ta.shift();)ea.call(e)})}function ra(){ta.push(this)===1&&(D.requestAnimationFrame||Ys)(Qs)}var aa=new URL("../",document.baseURI),Ye=document.querySelector('meta[name="timerbus"]'),ve={version:Ye?.content??"",readOnly:Ye?.dataset.readOnly==="true",hidePayloads:Ye?.
dataset.hidePayloads==="true",signIn:{issuer:Ye?.dataset.issuer??"",audience:Ye?.dataset.audience??"",clientID:Ye?.dataset.clientId??"",scopes:Ye?.dataset.scopes??
""}},me=class extends Error{constructor(r,a,s,o=0){super(s);this.status=r;this.code=a;this.retryAfter=o}status;code;retryAfter};function se(e){return e instanceof
me?e:new me(0,"UNEXPECTED",String(e))}var Jn="timerbus-token",De=K(sessionStorage.getItem(Jn)??""),Ce=K(null),He=K(null);function it(e){De.value=e,e?sessionStorage.
setItem(Jn,e):sessionStorage.removeItem(Jn)}var Qt=K(0);async function qn(e,t){let r=new Headers(t.headers);De.value&&r.set("Authorization",`Bearer ${De.value}`);
let a;try{a=await fetch(new URL(e,aa),{...t,headers:r,cache:"no-store"})}catch(o){throw t.signal?.aborted?o:new me(0,"UNREACHABLE","The service cannot be reache\
d: it may be stopped, or the network is down.")}let s=Date.parse(a.headers.get("Date")??"");if(!Number.isNaN(s)){let o=s+500-Date.now();Qt.value=Math.abs(o)>2e3?
o:0}return a}async function Wn(e){let{status:t,statusText:r}=e,a=await e.json().catch(()=>null),s=Number(e.headers.get("Retry-After"))*1e3||0;return new me(t,String(
a?.error??`HTTP_${t}`),String(a?.message??`The server answered ${t} ${r}.`),s)}function sa(e){let{rawJSON:t}=JSON;return t?JSON.parse(e,(a,s,o)=>typeof s=="numb\
er"&&o?.source!==void 0&&o.source.length>15?t(o.source):s):JSON.parse(e)}function At(e){if(!e.trim())return{};try{return{value:sa(e)}}catch(t){return{error:`The\
 payload is not JSON: ${t.message}`}}}async function zn(e,t,r,a={}){let s=await qn("api/v1/"+e,{method:"POST",body:JSON.stringify(t),headers:{"Content-Type":"ap\
plication/json",...a},signal:r??null});if(!s.ok){let o=await Wn(s);throw o.status===401&&!r?.aborted&&(He.value=o.message),o}return s}async function je(e,t,r){let a=await zn(
e,t,r),s=await a.text();return{data:s?sa(s):void 0,late:a.status===202}}async function I(e,t,r){return(await je(e,t,r)).data}async function oa(e){let t=await qn(
"readyz",{signal:e}),r=await t.clone().json().catch(()=>null);if(r&&(t.ok?typeof r.status=="string":t.status===503&&r.reasons?.length))return r;throw await Wn(t)}
async function Xt(e){let t=await qn("metrics",{signal:e});if(!t.ok)throw await Wn(t);return t.text()}async function Rt(){let e=await I("caller/get",{});Ce.value=
e,He.value=null}function Xs(e,t){let r=e.split("*").map(a=>a.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(t)}function ia(e,t){
return Ce.value?.grants.some(r=>r.verbs.includes(e)&&r.namespaces.some(t))??!1}function ue(e,t){return(e==="read"||!ve.readOnly)&&ia(e,r=>Xs(r,t))}function ct(e){
return(e==="read"||!ve.readOnly)&&ia(e,t=>t==="*")}var ca=aa.href.replace(/\/$/,"");function ua(e){let[t="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:t.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var oe=K(ua(location.hash));addEventListener("hashchange",()=>{oe.value=ua(location.hash)});function R(e,t={}){let r=Object.entries(
{ns:S.value,...t}).filter(([,a])=>a);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function de(e,t={}){location.hash=R(e,t)}function we(e){
let t=Object.fromEntries(oe.value.query);delete t.cursor,de(oe.value.path,{...t,...e})}var la="timerbus-namespace",S=Ge(()=>oe.value.query.get("ns")||localStorage.
getItem(la)||"default");be(()=>{localStorage.setItem(la,S.value)});var en=K([]),Kn=K(!1);async function tn(e){let t=[],r;for(;;){let a=await I("namespaces/list",
{limit:200,cursor:r},e);if(t=t.concat(a.namespaces),r=a.nextCursor,!r||t.length>=1e3)break}return e.aborted||(en.value=t,Kn.value=r!==void 0),t}function nn(e,t){
let r=K(localStorage.getItem(e)??t);return be(()=>{localStorage.setItem(e,r.value)}),r}var Se=nn("timerbus-zone","local"),Fe=nn("timerbus-theme","auto"),Ae=nn("\
timerbus-live","on"),rn=nn("timerbus-shortcuts","on");be(()=>{Fe.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=
Fe.value});var Ie=K(null),da=K(Date.now());setInterval(()=>{document.hidden||(da.value=Date.now())},1e3);var pa=Ge(()=>da.value+Qt.value),Pt=()=>Date.now()+Qt.value,
ut=K([]),eo=1;function ke(e,t="ok"){let r=eo++;ut.value=[...ut.value,{id:r,text:e,kind:t}],t==="ok"&&setTimeout(()=>{Vn(r)},1e4)}function Vn(e){ut.value=ut.value.
filter(t=>t.id!==e)}var Zn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,fa=new Map;function to(){return Se.value==="utc"?"UTC":Se.value==="schedule"&&Ie.value?Ie.value:"loc\
al"}var Et=e=>String(e).padStart(2,"0");function ge(e,t=to()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(t){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${Et(r.getMonth()+1)}-${Et(r.getDate())} ${Et(r.getHours())}:${Et(r.getMinutes())}\
:${Et(r.getSeconds())}`;default:{let a=fa.get(t);return a||(a=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:t}),fa.set(t,a)),a.
format(r)}}}function ha(e){return ge(e).slice(11,16)}function Je(e){let t=Math.abs(e);if(t<1)return t===0?"0 ms":"< 1 ms";if(t<1e3)return`${Math.round(t)} ms`;let r=t/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}var Qe=e=>e===
void 0?"\u2013":Je(e*1e3);function ma(e,t){let r=(typeof e=="number"?e:Date.parse(e))-t,a=Math.abs(r);if(a<500)return"now";let s=a<12e4?`${Math.round(a/1e3)} s`:
Je(a);return r>0?`in ${s}`:`${s} ago`}var no=new Intl.NumberFormat("en-US"),E=e=>no.format(e);function le(e,t){return`${E(e)} ${t}${e===1?"":"s"}`}var ro={ns:1e-6,
us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Gn(e){let t=0;for(let[,r="0",a="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))t+=Number(
r)*(ro[a]??0);return t}function ne(e){if(!e)return"";let[,t]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return t&&Number(t)>24&&Number(t)%24===0?`${Number(t)/24}d`:e.replace(
/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function an(e){return[e.rate&&`${E(e.rate.count)} per ${ne(e.rate.per)}`,e.concurrency&&`${E(e.concurrency)} at a \
time`].filter(Boolean).join(", ")}var Ee=()=>Se.value==="utc"?"UTC":"local";function qe(e){return e?ge(e,Se.value==="utc"?"UTC":"local").replace(" ","T"):""}function ye(e){
if(!e)return;let t=new Date(Se.value==="utc"?`${e}Z`:e);return Number.isNaN(t.getTime())?void 0:t.toISOString()}function sn(e){let[,t]=/^[^/?#]*\/\/([^/?#]*)/.exec(
e)??[];return t===void 0?e:t.slice(t.lastIndexOf("@")+1).toLowerCase()}function on(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}'`}var ao=Symbol.for("pv"),so=0;function n(e,t,r,a,s,o){t||(t={});var i,c,u=t;if("ref"in u&&typeof e!="function")for(c in u={},t)c=="ref"?i=t[c]:u[c]=t[c];var l={type:e,props:u,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:ao,__v:--so,__i:-1,__u:0};return(s||o)&&(l.__source=s,l.__self=o),D.vnode&&D.vnode(l),l}var ga=!1;function V({title:e,crumb:t,actions:r,children:a}){let s=te(null);return ee(()=>{document.title=`${e} \xB7 Timerbus`},[e]),ee(()=>{ga&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),ga=!0},[]),n(b,{children:[n("div",{class:"page-head",children:[n("div",{class:"page-title",children:[t&&n("div",{class:"crumb",
children:t}),n("h1",{tabIndex:-1,ref:s,children:e})]}),r&&n("div",{class:"actions",children:r})]}),a]})}function O({title:e,aside:t,children:r,wide:a,flush:s}){
let o=kt();return n("section",{class:`card${a?" wide":""}${s?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&n("div",{class:"card-head",children:[n("h2",
{id:o,children:e}),t]}),r]})}function ie({kind:e,children:t}){return n("span",{class:`badge ${e}`,children:t})}var Le=({status:e})=>n(ie,{kind:e,children:e});function B({
at:e,only:t}){if(!e)return n("span",{class:"muted",children:"\u2013"});let r=ge(e);if(t==="absolute")return n("time",{dateTime:e,title:e,children:r});let a=ma(e,
pa.value);return t==="relative"?n("time",{dateTime:e,title:r,children:a}):n("time",{dateTime:e,title:e,class:"time",children:[n("span",{children:r})," ",n("span",
{class:"muted",children:a})]})}function k({kind:e="",...t}){return n("button",{type:"button",...t,class:`button ${e}`})}function Yn({text:e,label:t="Copy"}){let[
r,a]=m(!1);ee(()=>{if(!r)return;let o=setTimeout(()=>{a(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select();let i=document.execCommand("copy");if(o.remove(),!i)return}a(!0)};return n(
k,{kind:"small",onClick:()=>{s()},children:r?"Copied":t})}function $t({text:e,label:t}){return n("div",{class:"command",children:[n("pre",{tabIndex:0,"aria-labe\
l":t,children:n("code",{children:e})}),n(Yn,{text:e})]})}function q({title:e,children:t,command:r}){return n("div",{class:"empty",children:[n("p",{class:"empty-\
title",children:e}),t&&n("p",{class:"muted",children:t}),r&&n($t,{text:r,label:"Command"})]})}var oo={UNREACHABLE:"Not reachable",INCOMPLETE:"Not sent",401:"Not\
 signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many requests",503:"Not available",504:"Outcome unknown"};function _e({error:e,
again:t}){return n("div",{class:"error",role:"alert",children:[n("div",{children:[n("strong",{children:oo[e.status||e.code]??"Failed"})," ",n("code",{children:[
e.status||""," ",e.code]}),n("p",{children:e.message})]}),t&&n(k,{kind:"small",onClick:t,children:"Try again"})]})}function W({of:e,children:t}){return n(b,{children:[
e.error&&n(_e,{error:e.error,again:e.again}),e.data!==void 0?t(e.data):e.loading&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"\
Loading"})})]})}function Xe({title:e,close:t,children:r}){let a=te(null),s=kt();return ee(()=>{let o=a.current,i=document.activeElement;return o?.showModal(),()=>{
o?.close(),i?.focus()}},[]),n("dialog",{ref:a,"aria-labelledby":s,onCancel:o=>{o.preventDefault(),t()},children:[n("div",{class:"dialog-head",children:[n("h2",{
id:s,children:e}),n(k,{kind:"icon","aria-label":"Close",onClick:t,children:"\u2715"})]}),r]})}function ya({label:e,hint:t,children:r,error:a}){let s=kt(),o=t||a?
`${s}-hint`:void 0;return n("div",{class:"field",children:[n("label",{for:s,children:e}),r(s,o),(t||a)&&n("p",{id:o,class:a?"hint bad":"hint",children:a??t})]})}
function N({label:e,value:t,set:r,hint:a,error:s,type:o="text",placeholder:i,required:c,mono:u,step:l}){return n(ya,{label:e,hint:a,error:s,children:(d,p)=>n("i\
nput",{id:d,type:o,value:t,placeholder:i,required:c,step:l,spellcheck:!1,autocomplete:"off",class:u?"mono":"","aria-describedby":p,"aria-invalid":s?!0:void 0,onInput:h=>{
r(h.currentTarget.value)}})})}function Ot({label:e,value:t,set:r,hint:a,error:s,rows:o=5}){return n(ya,{label:e,hint:a,error:s,children:(i,c)=>n("textarea",{id:i,
rows:o,value:t,class:"mono",spellcheck:!1,"aria-describedby":c,"aria-invalid":s?!0:void 0,onInput:u=>{r(u.currentTarget.value)}})})}function pe({label:e,value:t,
set:r,options:a,hint:s}){let o=kt();return n("div",{class:"field",children:[n("label",{for:o,children:e}),n("select",{id:o,value:t,onChange:i=>{r(i.currentTarget.
value)},children:a.map(([i,c])=>n("option",{value:i,selected:i===t,children:c},i))}),s&&n("p",{class:"hint",children:s})]})}function $e({of:e}){return n("dl",{class:"\
facts",children:e.filter(([,t])=>t!==void 0&&t!==""&&t!==null).map(([t,r])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:r})]},t))})}function ce({caption:e,
head:t,children:r,stack:a}){return n("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:n("table",{class:a?"stack":"",children:[n("captio\
n",{class:"sr",children:e}),n("thead",{children:n("tr",{children:t.map((s,o)=>n("th",{scope:"col",children:s},o))})}),n("tbody",{children:r})]})})}function lt({
value:e,label:t}){return n($t,{text:typeof e=="string"?e:JSON.stringify(e,null,2),label:t})}function cn({of:e}){return e&&n("div",{class:"callout",children:["Pa\
used",e.by&&` by ${e.by}`," ",n(B,{at:e.at}),e.note&&`: ${e.note}`]})}function _a({bars:e,label:t,every:r}){let a=io(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.
max(1,e.length),o=i=>100*(1-i/a);return n(b,{children:[n("div",{class:"chart",role:"img","aria-label":t,children:[n("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"\
none","aria-hidden":"true",children:[[0,a/2,a].map(i=>n("line",{x1:"0",x2:"1000",y1:o(i),y2:o(i)},i)),e.map((i,c)=>i.value>0&&n("rect",{x:c*s+s*.08,width:s*.84,
y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:n("title",{children:i.title})},c))]}),[0,a/2,a].map(i=>n("span",{class:"y","aria-hidden":"t\
rue",style:{top:`${o(i)}%`},children:un(i)},i)),e.map((i,c)=>c%r===0&&n("span",{class:"x","aria-hidden":"true",style:{left:`${c*s/10}%`},children:i.label},c))]}),
n("details",{class:"as-table",children:[n("summary",{children:"As a table"}),n(ce,{caption:t,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>n("tr",
{children:[n("td",{children:i.label}),n("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}function io(e){let t=10**Math.floor(Math.log10(e));for(let r of[
1,1.2,1.6,2,3,4,5,6,8,10])if(r*t>=e)return Math.max(2,r*t);return e}function un(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(
+e.toFixed(1))}function co({values:e}){if(e.length<2)return n("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let t=Math.max(...e,1e-9),r=e.map(
(a,s)=>`${(s/(e.length-1)*100).toFixed(1)},${(22-a/t*20).toFixed(1)}`);return n("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidde\
n":"true",children:[n("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),n("polyline",{points:r.join(" "),class:"line"})]})}function re({label:e,value:t,
hint:r,kind:a="",spark:s,href:o}){let i=n(b,{children:[n("span",{class:"tile-label",children:e}),n("span",{class:"tile-value",children:t}),n("span",{class:"tile\
-hint",children:r}),s&&n(co,{values:s})]});return o?n("a",{class:`tile ${a}`,href:o,children:i}):n("div",{class:`tile ${a}`,children:i})}function dt(){let e=te(!1);return ee(()=>()=>{e.current=!0},[]),e}function fe({title:e,children:t,verb:r,danger:a,path:s,body:o,done:i,close:c,after:u}){let[l,d]=m(),
[p,h]=m(!1),f=dt(),y=async()=>{let T=o();if(typeof T=="string"){d(new me(0,"INCOMPLETE",T));return}h(!0);try{let{late:_}=await je(s,T);if(ke(_?`${i} An earlier \
delivery may have been sent.`:i,_?"warn":"ok"),f.current)return;c(),u()}catch(_){let w=se(_);f.current&&ke(`${e}: ${w.message}`,"warn"),d(w),h(!1)}};return n(Xe,
{title:e,close:c,children:n("form",{onSubmit:T=>{T.preventDefault(),y()},children:[t,l&&n(_e,{error:l}),l&&/^(GENERATION|VERSION)_CONFLICT$/.test(l.code)&&n("p",
{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present state."}),n("div",{class:"dialog-foot",children:[n(k,{onClick:c,
children:"Cancel"}),n("button",{type:"submit",class:`button ${a?"danger":"primary"}`,disabled:p,children:p?"Sending\u2026":r})]})]})})}var ba=250;function ln(e,t){
return async(r,a)=>{let s=0,o=0;for(let i;;){let{data:c}=await je(e,{...t,dryRun:!0,limit:ba,cursor:i},r);if(a(s+=c.applied),o+=c.skipped,i=c.nextCursor,!i)return{
n:s,more:!1,skipped:o}}}}async function et(e,t,r,a=()=>{}){let s=0,o=!1;for(let i of t){if(!e.correlationId){let u=await I("timers/count",{...e,status:i},r);s+=
u.count,o||=u.truncated;continue}let c;do{let u=await I("timers/list",{...e,status:i,limit:1e3,cursor:c},r);a(s+=u.timers.length),c=u.nextCursor}while(c)}return{
n:s,more:o}}function pt({action:e,close:t,after:r}){let[a,s]=m("ask"),[o,i]=m(),[c,u]=m(0),[l,d]=m({matched:0,applied:0,late:0,skipped:0,pages:0}),[p,h]=m(),f=te(
new AbortController),y=te(void 0),T=te(!1),_=dt();ee(()=>()=>{T.current=!0,f.current.abort()},[]);let w=async()=>{s("counting"),h(void 0),f.current=new AbortController;
try{i(await e.count(f.current.signal,u)),s("counted")}catch($){if(f.current.signal.aborted)return;h(se($)),s("ask")}},v=async()=>{s("running"),h(void 0),T.current=
!1;let $=l;try{do{let{data:M}=await je(e.path,{...e.filter,limit:ba,cursor:y.current});y.current=M.nextCursor,$={matched:$.matched+M.matched,applied:$.applied+M.
applied,late:$.late+(M.late??0),skipped:$.skipped+M.skipped,pages:$.pages+1},d($)}while(y.current&&!T.current);s(y.current?"cancelled":"ended"),_.current&&ke(`${e.
title}: ${y.current?"stopped, ":""}${x($)}.`,y.current?"warn":"ok")}catch(M){h(se(M)),s("failed"),_.current&&ke(`${e.title}: failed, ${x($)}: ${se(M).message}`,
"warn")}r()},g=o&&!o.more?o.n+(o.skipped??0):void 0,x=$=>`${le($.applied,"timer")} ${e.done}`+($.late?` (an earlier delivery of ${E($.late)} may have been sent)`:
"")+($.skipped?`, ${E($.skipped)} skipped`:"");return n(Xe,{title:e.title,close:t,children:[n("p",{children:e.describe}),a==="counting"&&n("p",{role:"status",children:[
"Counting\u2026 ",c>0&&E(c)]}),a==="counted"&&o&&n("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",le(o.n,"timer")," would be ",e.
done,o.skipped?`, ${E(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),l.pages>0&&n("div",{class:"progress-wrap",children:[
(a==="running"||g!==void 0)&&n("progress",{max:g||1,value:g===void 0?void 0:o?.skipped===void 0?l.applied:l.matched,"aria-label":"Progress"}),n("p",{role:"statu\
s",children:[a==="running"?"Working: ":a==="ended"?"Finished: ":a==="cancelled"?"Cancelled: ":"Stopped: ",x(l),a==="cancelled"&&". The others were not changed."]})]}),
p&&n(_e,{error:p}),n("div",{class:"dialog-foot",children:[a==="running"?n(k,{kind:"danger",onClick:()=>{T.current=!0},children:"Cancel"}):n(k,{onClick:t,children:"\
Close"}),(a==="ask"||a==="counted")&&n(k,{onClick:()=>{w()},children:"Dry run"}),(a==="ask"||a==="counted")&&n(k,{kind:e.danger?"danger":"primary",onClick:()=>{
v()},children:[e.verb," ",o?o.more?"all":E(o.n):"all"]}),(a==="cancelled"||a==="failed")&&n(k,{kind:"primary",onClick:()=>{v()},children:"Continue"})]})]})}function uo(e){let t=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let a=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!a)continue;let s={};for(let[,o="",i=""]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[o]=i.replace(/\\(.)/g,(c,u)=>u==="n"?`
`:u);t.push({name:a[1].slice(9),labels:s,value:Number(a[3].replace("Inf","Infinity"))})}return t}var ft=class{at=performance.now();byName=new Map;constructor(t){
for(let r of uo(t)){let a=this.byName.get(r.name);a?a.push(r):this.byName.set(r.name,[r])}}sum(t,r={}){let a=this.byName.get(t)?.filter(s=>Object.entries(r).every(
([o,i])=>s.labels[o]===i));return a?.length?a.reduce((s,o)=>s+o.value,0):void 0}by(t,r,a={}){let s=new Map;for(let o of this.byName.get(t)??[]){if(!Object.entries(
a).every(([c,u])=>o.labels[c]===u))continue;let i=o.labels[r]??"";s.set(i,(s.get(i)??0)+o.value)}return s}quantile(t,r,a,s={}){if(!a)return;let o=a.by(`${r}_buc\
ket`,"le",s),i=[...this.by(`${r}_bucket`,"le",s)].map(([p,h])=>[p==="+Inf"?1/0:Number(p),h-(o.get(p)??0)]).sort((p,h)=>p[0]-h[0]),c=i.at(-1)?.[1]??0;if(c<=0)return;
let u=t*c,l=0,d=0;for(let[p,h]of i){if(h>=u)return p===1/0?l:l+(p-l)*(h===d?1:(u-d)/(h-d));l=p,d=h}return l}},va=6e4,ht=class{constructor(t){this.counter=t}counter;scrapes=[];add(t){
let r=t.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(a=>t.at-a.at<=2*va&&(a.sum(this.counter)??0)<=r),this.scrapes.push(t);this.scrapes.length>2&&t.
at-this.scrapes[1].at>va;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var Nt=e=>e.timerId!==void 0,fn=e=>Nt(e)&&(e.type==="dead"||e.type==="purged"),Qn=new Set;function Sa(e){return Qn.add(e),()=>{Qn.delete(e)}}function pn(e){for(let t of Qn)
t(e)}var Ue=K("no"),lo=250,wa=1e3,ka=6e4,po=45e3,dn={namespace:"",id:""};async function*fo(e){let t=e.getReader(),r=new TextDecoder,a=()=>{t.cancel().catch(()=>{})},
s="",o={name:"",data:"",id:""},i=0;try{for(;;){i=window.setTimeout(a,po);let{done:c,value:u}=await t.read();if(clearTimeout(i),c)return;let l=(s+r.decode(u,{stream:!0})).
split(`
`);s=l.pop()??"";for(let d of l)d===""?(yield o,o={name:"",data:"",id:""}):d.startsWith("event: ")?o.name=d.slice(7):d.startsWith("data: ")?o.data=d.slice(6):d.
startsWith("id: ")&&(o.id=d.slice(4))}}finally{clearTimeout(i),a()}}async function ho(e,t){let r=dn.namespace===e&&dn.id!=="",a=await zn("events/stream",{namespace:e},
t,r?{"Last-Event-ID":dn.id}:{});if(a.body)for await(let{name:s,data:o,id:i}of fo(a.body)){if(t.aborted)return;i&&(dn={namespace:e,id:i}),s==="open"?(Ue.value=JSON.
parse(o).complete?"all":"some",r||pn()):s==="reset"?pn():s==="change"&&pn(JSON.parse(o))}}async function mo(e,t){await xa(lo,t);for(let r=0;!t.aborted;){let a=wa;
try{await ho(e,t),r=0}catch(s){if(t.aborted)return;let o=se(s);if(r=Ue.value==="no"?r+1:0,a=Math.max(o.retryAfter,Math.min(ka,wa*2**r)),o.status===403||o.status===
404)a=ka;else if(o.status>=400&&o.status<500&&o.status!==429)return}if(t.aborted)return;go(),await xa(a*(1+Math.random()),t)}}function xa(e,t){return new Promise(
r=>{let a=setTimeout(r,e);t.addEventListener("abort",()=>{clearTimeout(a),r()},{once:!0})})}function go(){Ue.value!=="no"&&(Ue.value="no",pn())}var Ta=K(!document.
hidden);document.addEventListener("visibilitychange",()=>{Ta.value=!document.hidden});be(()=>{let e=S.value;if(Ae.value!=="on"||!Ta.value||He.value!==null||!Ce.
value||!ue("read",e))return;let t=new AbortController;return mo(e,t.signal),()=>{t.abort(),Ue.value="no"}});var yo=6e4,_o=2e4,bo=3e3,vo=100;function j(e,t,r,a=!1,s){let[o,i]=m({key:""}),[c,u]=m(0),l=te(r);l.current=r;let d=te(s);d.current=s,qt(()=>{if(e==="")return;let h=new AbortController,
f=0,y=0,T=!1,_=0,w=0,v=!1,g=()=>{clearTimeout(f),Ae.value==="on"&&(f=window.setTimeout(()=>{x()},Math.max(0,_-performance.now())))},x=async()=>{if(T||h.signal.aborted||
document.hidden&&f!==0)return;T=!0,v=!1;let Z=0,F=performance.now();try{let L=await l.current(h.signal);if(h.signal.aborted)return;y=0,i({key:e,data:L})}catch(L){
if(h.signal.aborted)return;y++;let U=se(L);if(Z=Math.max(U.retryAfter,Math.min(yo,t*2**y)),i(J=>J.key===e&&J.data!==void 0?{key:e,data:J.data,error:U}:{key:e,error:U}),
U.status>=400&&U.status<500&&U.status!==429)return}finally{T=!1;let L=a?vo*(performance.now()-F):0,U=d.current&&Ue.value==="all"&&Z===0?Math.max(t,_o):t;w=performance.
now()+Math.max(L,Math.min(t,bo),Z),_=v?w:performance.now()+Math.max(L,U,Z)}g()},$=()=>{document.hidden||T||(a||(_=0),g())},M=Z=>{!d.current||Z&&!d.current(Z)||(v=
!0,!(T||document.hidden)&&(_=Math.min(_,w),g()))};document.addEventListener("visibilitychange",$);let he=Sa(M);x();let Y=Ae.subscribe($);return()=>{h.abort(),clearTimeout(
f),Y(),he(),document.removeEventListener("visibilitychange",$)}},[e,t,c]);let p=o.key===e?o:{key:e};return{data:p.data,error:p.error,loading:e!==""&&p.data===void 0&&
p.error===void 0,again:()=>{u(h=>h+1)}}}var Ca=60;function wo(){let e=te(new ht("dispatcher_fires_total")),t=te({fires:[],lateness:[]}),r=ct("read"),a=j(r?"metrics":"",3e3,async l=>{let d=new ft(await Xt(
l)),p=e.current.add(d),h=d.sum("dispatcher_fires_total"),f=d.sum("timers_pending"),y=p&&h!==void 0?1e3*Math.max(0,h-(p.sum("dispatcher_fires_total")??0))/(d.at-
p.at):void 0,T=w=>d.quantile(w,"dispatcher_lateness_seconds",p),_={lateness50:T(.5),lateness99:T(.99),fires:y,pending:f,overdue:d.sum("timers_overdue"),dead:d.sum(
"timers_dead"),held:f===void 0?void 0:(d.sum("timers_paused")??0)+(d.sum("timers_parked")??0),oldest:d.sum("timers_oldest_overdue_seconds"),whole:f!==void 0,local:h!==
void 0};return y!==void 0&&(t.current.fires=[...t.current.fires,y].slice(-Ca)),_.lateness99!==void 0&&(t.current.lateness=[...t.current.lateness,_.lateness99].slice(
-Ca)),_}),s=!r||a.data?.whole===!1,o=j(s?`counts/${S.value}`:"",3e4,ko,!0),i=r?a:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},c=i.data&&{...i.data,...o.data},
u=()=>{a.again(),o.again()};return{poll:{...i,data:c,error:i.error??o.error,again:u},series:t.current,everywhere:r}}async function ko(e){let t=!1,r=S.value,a=async(l,d)=>{
let{n:p,more:h}=await et({namespace:r,dueBefore:d},l,e);return t||=h,p},s=new Date(Pt()).toISOString(),[o,i,c,u]=await Promise.all([a(["scheduled","retrying"]),
a(["scheduled","retrying"],s),a(["dead"]),a(["paused","parked"])]);return{pending:o,overdue:i,dead:c,held:u,least:t}}var hn=(e,t)=>t===void 0?"\u2013":n(b,{children:[
e.least&&n("small",{children:"at least "}),un(t)]});function xo({of:e}){let t=e.reasons??[],r=e.degraded??[],a=t.length?"dead":r.length?"retrying":"done";return n(
"div",{class:`health ${a}`,role:"status",children:[n(ie,{kind:a,children:t.length?"not ready":r.length?"degraded":"healthy"}),t.length===0&&r.length===0&&n("spa\
n",{children:"Requests are served, and all parts work."}),n("ul",{children:[t.map(s=>n("li",{children:s},s)),r.map(s=>n("li",{children:[n("strong",{children:s.part}),
": ",s.reason,", ",n(B,{at:s.since})]},s.part))]})]})}var Xn=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",168,240]];function So(){let[e,t]=m("24\
h"),[,r,a,s]=Xn.find(([c])=>c===e)??Xn[0],o=j(`forecast/${S.value}/${e}`,6e4,c=>{let u=s*6e4,l=Math.floor(Pt()/u)*u;return I("timers/forecast",{namespace:S.value,
from:new Date(l).toISOString(),to:new Date(l+a*36e5).toISOString(),bucket:`${s}m`},c)},!0),i=n("div",{class:"segments",role:"group","aria-label":"Range of the f\
orecast",children:Xn.map(([c,u])=>n("button",{type:"button","aria-pressed":e===c,onClick:()=>{t(c)},children:u},c))});return n(O,{title:"Forecast",aside:i,wide:!0,
children:n(W,{of:o,children:c=>{let u=Date.parse(c.from),l=c.counts.reduce((p,h)=>p+h,0),d=c.counts.map((p,h)=>{let f=u+h*s*6e4;return{label:a>24?ge(f).slice(5,
16):ha(f),value:p,title:`${ge(f)}: ${le(p,"timer")}`}});return n(b,{children:[n("p",{class:"muted",children:[le(l,"timer")," of ",S.value," due in the next ",r,
c.truncated&&`, counted until ${ge(c.completeBefore)}`]}),l===0?n(q,{title:"Nothing is due in this time.",command:`timerbus timer create hello --in 1h -n ${S.value}`,
children:"Create a timer:"}):n(_a,{bars:d,every:Math.ceil(d.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}, for each ${s} minutes: ${l} in all`})]})}})})}
function mn(e){return e.callbackUrl?sn(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function To(){let e=j(`next/${S.value}`,3e3,t=>I("timers/list",{namespace:S.
value,order:"due",limit:8},t),!1,Nt);return n(O,{title:"Due next",aside:n("a",{href:R(["timers"]),children:"All timers"}),flush:!0,children:n(W,{of:e,children:({
timers:t})=>t.length===0?n(q,{title:"No timer waits.",command:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${S.value}`,children:"\
Create one, here or with the CLI:"}):n(ce,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:t.map(r=>n("tr",{children:[n("td",
{children:n(B,{at:r.dueAt,only:"relative"})}),n("td",{class:"id",children:n("a",{href:R(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:mn(r)}),
n("td",{children:n(Le,{status:r.status})})]},r.uuid))})})})}function Co(){let e=j(`failed/${S.value}`,1e4,t=>I("timers/list",{namespace:S.value,status:"dead",limit:8},
t),!1,fn);return n(O,{title:"Dead letters",aside:n("a",{href:R(["dead"]),children:"By reason"}),flush:!0,children:n(W,{of:e,children:({timers:t})=>t.length===0?
n(q,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):n(ce,{caption:"Some dead timers",head:["Timer","Target","Error"],children:t.
map(r=>n("tr",{children:[n("td",{class:"id",children:n("a",{href:R(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:mn(r)}),n("td",{class:"clip",
title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function Aa(){let e=j("health",5e3,oa),{poll:t,series:r,everywhere:a}=wo(),s=t.data,o=s&&
!s.whole?`namespace ${S.value}`:"cluster";return n(V,{title:"Overview",children:[n(W,{of:e.error?{...e,data:void 0}:e,children:i=>n(xo,{of:i})}),n(W,{of:t,children:i=>n(
b,{children:[n("div",{class:"tiles",children:[n(re,{label:"Lateness p50",value:Qe(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==void 0&&i.lateness50>
5?"warn":""}),n(re,{label:"Lateness p99",value:Qe(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.lateness}),n(re,
{label:"Fires",value:i.fires===void 0?"\u2013":`${un(i.fires)}/s`,hint:"last minute",spark:r.fires}),n(re,{label:"Pending",value:hn(i,i.pending),hint:(i.pending??
0)<1e3?"scheduled, retrying":E(i.pending??0),href:R(["timers"])}),n(re,{label:"Backlog",value:hn(i,i.overdue),hint:i.oldest?`oldest ${Qe(i.oldest)}`:"overdue ti\
mers",kind:(i.oldest??0)>10?"warn":""}),n(re,{label:"Dead",value:hn(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:R(["dead"])}),
n(re,{label:"Paused, parked",value:hn(i,i.held),hint:o,href:R(["timers"],{status:"paused"})})]}),!i.local&&n("p",{class:"callout",children:a?n(b,{children:["Thi\
s process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",n("code",{children:"/metrics"}),"; the Grafana dashboard shows all p\
rocesses."]}):n(b,{children:"Lateness and fires need the right to read all namespaces."})})]})}),n("div",{class:"grid",children:[n(So,{}),n(To,{}),n(Co,{})]})]})}var Ao=50,Ro=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];function er({timers:e,caption:t}){return n(ce,{caption:t,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(
r=>n("tr",{children:[n("td",{class:"id","data-label":"Timer",children:n("a",{href:R(["timers",r.id]),children:r.id})}),n("td",{"data-label":"Status",children:n(
Le,{status:r.status})}),n("td",{"data-label":"Due",children:n(B,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),n("td",{class:"clip","data-labe\
l":"Target",title:r.callbackUrl??r.topic,children:mn(r)}),n("td",{class:"num","data-label":"Attempts",children:r.attempts}),n("td",{class:"clip","data-label":"L\
ast error",title:r.lastError,children:r.lastError??n("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function Ra(){let e=oe.value.query,t=e.
get("status")??"",r=e.get("correlationId")??"",a=e.get("dueFrom")??"",s=e.get("dueBefore")??"",o=e.get("cursor")??"",i=(t===""||t==="scheduled"||t==="retrying")&&
!r,[c,u]=m(""),[l,d]=m(null),p={namespace:S.value,status:t||void 0,correlationId:r||void 0,dueFrom:a||void 0,dueBefore:s||void 0},h=JSON.stringify([p,i,o]),f=j(
h,o?1e4:3e3,g=>I("timers/list",{...p,order:i?"due":"key",limit:Ao,cursor:o||void 0},g),!1,Nt),y=j(r?"":JSON.stringify(p),3e4,g=>et(p,[p.status],g),!0),T=ue("wri\
te",S.value),_=g=>{let x={pause:["Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:[
"Retry timers","Retry","started again"],purge:["Delete from history","Delete","removed from history"]},[$,M,he]=x[g],{status:Y,...Z}=p,F=g==="resume"?Z:p,L=`tim\
ers/${g}-matching`,U=g==="resume"?["paused"]:g==="pause"&&!t?["scheduled","retrying"]:[p.status];d({title:$,verb:M,done:he,path:L,filter:F,danger:g==="delete"||
g==="purge",describe:n(b,{children:["All timers of ",n("strong",{children:S.value})," that this page\u2019s filter selects, not only those of the shown page."]}),
count:g==="retry"||g==="purge"?ln(L,F):(J,P)=>et(p,U,J,P)})},w=!!(t||r||a||s),v=T&&n(b,{children:[(t===""||t==="scheduled"||t==="retrying")&&n(k,{onClick:()=>{_(
"pause")},children:"Pause all\u2026"}),(t===""||t==="paused")&&n(k,{onClick:()=>{_("resume")},children:"Resume all\u2026"}),(t==="dead"||t==="parked")&&n(k,{onClick:()=>{
_("retry")},children:"Retry all\u2026"}),(t==="dead"||t==="done")&&n(k,{onClick:()=>{_("purge")},children:"Delete all\u2026"}),t!=="dead"&&t!=="done"&&w&&n(k,{onClick:()=>{
_("delete")},children:"Delete all\u2026"}),n("a",{class:"button primary",href:R(["new","timer"]),children:"Create timer"})]});return n(V,{title:"Timers",actions:v,
children:[n("form",{class:"filters",role:"search",onSubmit:g=>{g.preventDefault(),c.trim()&&de(["timers",c.trim()])},children:[n("div",{class:"field",children:[
n("label",{for:"open",children:"Open by id"}),n("div",{class:"joined",children:[n("input",{id:"open","data-search":!0,type:"search",value:c,placeholder:"order-1\
842",spellcheck:!1,onInput:g=>{u(g.currentTarget.value)}}),n("button",{type:"submit",class:"button",children:"Open"})]})]}),n(pe,{label:"Status",value:t,options:Ro,
set:g=>{we({status:g})}}),n(tt,{label:"Correlation id",value:r,set:g=>{we({correlationId:g})}}),n(tt,{label:`Due from (${Ee()})`,type:"datetime-local",value:qe(
a),set:g=>{we({dueFrom:ye(g)})}}),n(tt,{label:"Due before",type:"datetime-local",value:qe(s),set:g=>{we({dueBefore:ye(g)})}}),(w||o)&&n(k,{kind:"ghost",onClick:()=>{
de(["timers"])},children:"Clear"})]}),n(O,{flush:!0,wide:!0,children:n(W,{of:f,children:g=>n(b,{children:[g.timers.length===0?n(q,{title:w||o?"No timer matches.":
"There are no timers in this namespace.",command:w||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${S.value}`,children:w||
o?g.nextCursor?"This page is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):n(er,{timers:g.timers,
caption:"Timers"}),n("div",{class:"pager",children:[n("span",{class:"muted",role:"status",children:[y.data&&`${y.data.more?"at least ":""}${E(y.data.n)} in all`,
y.error&&`counting failed: ${y.error.message}`,i?"the next due first":"in a fixed order"].filter(Boolean).join(", ")}),n("span",{class:"pager-buttons",children:[
o&&n("a",{class:"button",href:R(["timers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),g.nextCursor&&n("a",{class:"button",href:R(["timers"],
{...Object.fromEntries(e),cursor:g.nextCursor}),children:"Next page"})]})]})]})})}),l&&n(pt,{action:l,close:()=>{d(null)},after:()=>{f.again(),y.again()}})]})}function tt({
label:e,value:t,set:r,type:a}){let[s,o]=m(t),[i,c]=m(t);i!==t&&(c(t),o(t));let u=()=>{s!==t&&r(s)};return n("div",{onFocusOut:u,onKeyDown:l=>{l.key==="Enter"&&(l.
preventDefault(),u())},children:n(N,{label:e,value:s,set:o,type:a,step:a?"1":void 0})})}var Po=5e3,Eo=500,$o=20,tr=100;function Oo(e,t){for(let r of t){let a=r.callbackUrl?sn(r.callbackUrl):"",s=r.lastError??"",o=`${a}\0${s}`,i=e.groups.get(o);i||(i=
{host:a,error:s,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,newest:r.executeAt},e.groups.set(o,i)),i.count++,i.timers.length<$o&&i.timers.push(
r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=r.executeAt)}e.read+=t.length}var nr=e=>e.host||"no URL";async function Pa(e,t,r,a){
let s=e?{...e,groups:new Map([...e.groups].map(([i,c])=>[i,{...c,timers:[...c.timers]}]))}:{groups:new Map,read:0,cursor:void 0},o=s.read+Po;do{let i=await I("t\
imers/list",{...t,limit:Eo,cursor:s.cursor},r);Oo(s,i.timers),s.cursor=i.nextCursor,r.aborted||a({...s})}while(s.cursor&&s.read<o);return s}function No({of:e}){
let[t,r]=m(e.timers);return ee(()=>{let a=new AbortController,s=o=>I("timers/get",{namespace:o.namespace,id:o.id},a.signal).then(i=>i.generation===o.generation?
o:{...o,status:i.status},()=>o);return Promise.all(e.timers.map(s)).then(o=>{a.signal.aborted||r(o)}),()=>{a.abort()}},[e.timers.map(a=>a.uuid+a.generation).join()]),
n(er,{timers:t,caption:`Dead timers of ${nr(e)}`})}function Ea(){let e=oe.value.query,t=e.get("correlationId")??"",r=e.get("dueFrom")??"",a=e.get("dueBefore")??
"",s=S.value,o={namespace:s,status:"dead",correlationId:t||void 0,dueFrom:r||void 0,dueBefore:a||void 0},i=JSON.stringify(o),[c,u]=m(),[l,d]=m(),p=l?.key===i?l:
void 0,[h,f]=m(),[y,T]=m(null),[_,w]=m(0),v=j(p?"":i,1e4,P=>Pa(void 0,o,P,A=>{v.data||u({key:i,read:A})}),!0,fn),g=p?.read??v.data??(c?.key===i?c.read:void 0),x=p?.
busy??v.loading,$=p?p.error:v.error,M=te(new AbortController);ee(()=>()=>{M.current.abort()},[i]);let he=async P=>{M.current=new AbortController;let{signal:A}=M.
current,Te=P;d({key:i,read:Te,busy:!0});try{Te=await Pa(P,o,A,Oe=>{Te=Oe,d({key:i,read:Te,busy:!0})}),A.aborted||d({key:i,read:Te,busy:!1})}catch(Oe){A.aborted||
d({key:i,read:Te,busy:!1,error:se(Oe)})}},Y=()=>{M.current.abort(),d(void 0),w(P=>P+1),v.again()},Z=(P,A)=>{let Te=A?{...o,callbackHost:A.host,lastError:A.error}:
o,Oe=`timers/${P}-matching`;T({title:P==="retry"?"Retry dead timers":"Delete dead timers",verb:P==="retry"?"Retry":"Delete",done:P==="retry"?"started again":"re\
moved from history",path:Oe,filter:Te,danger:P==="purge",describe:A?n(b,{children:["All dead timers of ",n("strong",{children:s})," that ",A.host?n(b,{children:[
"call ",n("strong",{children:A.host})]}):"have no URL"," and failed with ",n("q",{children:A.error}),"."]}):n(b,{children:["All dead timers of ",n("strong",{children:s}),
" that this page\u2019s filter selects, also those that were not read yet."]}),count:ln(Oe,Te)})},F=ue("write",s),L=g?[...g.groups].sort(([,P],[,A])=>A.count-P.
count):[],U=!!(t||r||a),J=F&&L.length>0&&n(b,{children:[n(k,{kind:"primary",onClick:()=>{Z("retry")},children:"Retry all\u2026"}),n(k,{kind:"danger-ghost",onClick:()=>{
Z("purge")},children:"Delete all\u2026"})]});return n(V,{title:"Dead letters",actions:J,children:[n("form",{class:"filters",role:"search",onSubmit:P=>{P.preventDefault()},
children:[n(tt,{label:"Correlation id",value:t,set:P=>{we({correlationId:P})}}),n(tt,{label:`Planned from (${Ee()})`,type:"datetime-local",value:qe(r),set:P=>{we(
{dueFrom:ye(P)})}}),n(tt,{label:"Planned before",type:"datetime-local",value:qe(a),set:P=>{we({dueBefore:ye(P)})}}),U&&n(k,{kind:"ghost",onClick:()=>{de(["dead"])},
children:"Clear"})]}),$&&n(_e,{error:$,again:Y}),!g&&x&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})}),g&&L.length===
0&&!x&&n(O,{children:n(q,{title:U?"No dead timer matches.":"No timer is dead.",children:U?"Change the filter, or clear it.":n(b,{children:["Timers whose retry p\
olicy has ended appear here, with their payload, for the dead retention of the namespace. ",n("a",{href:R(["timers"],{status:"retrying"}),children:"Timers that \
are retried"})]})})}),g&&L.length>0&&n(b,{children:[n("p",{class:"muted",role:"status",children:[le(g.read,"dead timer")," in ",le(L.length,"group"),", by host \
and reason",g.cursor&&", and more",". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),
n("div",{class:"groups",children:L.slice(0,tr).map(([P,A])=>n("section",{class:"card group","aria-label":`${nr(A)}: ${A.error}`,children:[n("div",{class:"group-\
head",children:[n("span",{class:"group-count",children:E(A.count)}),n("div",{class:"group-text",children:[n("div",{children:[n("strong",{children:nr(A)})," ",A.
status?n(ie,{kind:"dead",children:["HTTP ",A.status]}):null]}),n("div",{class:"reason",children:A.error||"no reason"}),n("div",{class:"muted",children:["planned\
 ",ge(A.oldest),A.newest!==A.oldest&&` to ${ge(A.newest)}`]})]}),n("div",{class:"actions",children:[F&&A.error&&n(k,{kind:"small",onClick:()=>{Z("retry",A)},children:"\
Retry\u2026"}),F&&A.error&&n(k,{kind:"small danger-ghost",onClick:()=>{Z("purge",A)},children:"Delete\u2026"}),n(k,{kind:"small ghost","aria-expanded":h===P,onClick:()=>{
f(h===P?void 0:P)},children:[h===P?"Hide":"Show"," timers"]})]})]}),h===P&&n(No,{of:A},_),h===P&&A.count>A.timers.length&&n("p",{class:"muted pad",children:["Th\
e first ",A.timers.length," of ",E(A.count),"."]})]},P))}),L.length>tr&&n("p",{class:"muted",children:["The ",tr," largest groups."]}),g.cursor&&n("p",{children:n(
k,{disabled:x,onClick:()=>{he(g)},children:x?"Reading\u2026":"Read more"})})]}),y&&n(pt,{action:y,close:()=>{T(null)},after:Y})]})}function $a(e){return e.cron?e.cron:e.every?`every ${ne(e.every)}`:e.rrule?e.rrule:le(e.dates?.length??0,"date")}function Do({payload:e,request:t,headers:r,...a}){
return ve.hidePayloads?a:{...a,payload:e,request:t,headers:r}}function Oa(){let e=oe.value.query.get("status")??"",t=oe.value.query.get("cursor")??"",r=S.value,
a=j(`${r}/${e}/${t}`,5e3,s=>I("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:t||void 0},s),!1,s=>s.scheduleId!==void 0);return n(V,{title:"Sched\
ules",actions:ue("write",r)&&n("a",{class:"button primary",href:R(["new","schedule"]),children:"Create schedule"}),children:[n("form",{class:"filters",role:"sea\
rch",onSubmit:s=>{s.preventDefault()},children:n(pe,{label:"Status",value:e,set:s=>{we({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],
["parked","Parked"]]})}),n(O,{flush:!0,wide:!0,children:n(W,{of:a,children:s=>n(b,{children:[s.schedules.length===0?n(q,{title:e?`No schedule is ${e}.`:"There a\
re no schedules in this namespace.",command:e?void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&
"A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}):n(ce,{caption:"Schedules",head:["Schedule","Status","Occurs",
"Time zone","Next","Created"],stack:!0,children:s.schedules.map(o=>n("tr",{children:[n("td",{class:"id","data-label":"Schedule",children:n("a",{href:R(["schedul\
es",o.id]),children:o.id})}),n("td",{"data-label":"Status",children:n(Le,{status:o.status})}),n("td",{class:"clip","data-label":"Occurs",children:n("code",{children:o.
specs.map($a).join("; ")})}),n("td",{"data-label":"Time zone",children:o.timeZone}),n("td",{"data-label":"Next",children:n(B,{at:o.nextAt})}),n("td",{class:"num",
"data-label":"Created",children:o.created})]},o.id))}),(s.nextCursor||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:R(["schedules"],{status:e}),children:"First page"}),s.nextCursor&&n("a",{class:"button",href:R(["schedules"],{status:e,cursor:s.nextCursor}),
children:"Next page"})]})]})]})})})]})}var Io={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is t\
he first of the two.",second:"The clocks repeat its local time; this is the second of the two."};function rr({of:e,timeZone:t}){return e.length===0?n(q,{title:"\
There are no further occurrences."}):n(ce,{caption:"Next occurrences",head:[`Local time (${t})`,"Instant","Remark"],stack:!0,children:e.map(r=>n("tr",{children:[
n("td",{"data-label":"Local time",children:r.local.replace("T"," ")}),n("td",{"data-label":"Instant",children:n(B,{at:r.at})}),n("td",{"data-label":"Remark",children:r.
remark?n(b,{children:[n(ie,{kind:"retrying",children:"DST"})," ",Io[r.remark]]}):n("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Na({id:e}){let t=S.
value,r=p=>p.scheduleId===e,a=j(`schedule/${t}/${e}`,3e3,p=>I("schedules/get",{namespace:t,id:e},p),!1,r),s=a.data,o=j(`preview/${t}/${e}/${s?.version??0}`,3e4,
p=>I("schedules/preview",{namespace:t,id:e,limit:10},p)),i=j(`decisions/${t}/${e}`,5e3,p=>I("schedules/history",{namespace:t,id:e,limit:50},p),!1,r),[c,u]=m(null);
ee(()=>(Ie.value=s?.timeZone??null,()=>{Ie.value=null}),[s?.timeZone]);let l=()=>{a.again(),i.again(),o.again()},d=s&&ue("write",t)&&s.status!=="ended"&&n(b,{children:[
n(k,{kind:"primary",onClick:()=>{u("trigger")},children:"Trigger\u2026"}),s.status==="active"?n(k,{onClick:()=>{u("pause")},children:"Pause\u2026"}):n(k,{onClick:()=>{
u("resume")},children:"Resume\u2026"}),n(k,{onClick:()=>{u("backfill")},children:"Backfill\u2026"}),n(k,{kind:"danger-ghost",onClick:()=>{u("delete")},children:"\
Delete\u2026"})]});return n(V,{title:e,crumb:n(b,{children:[n("a",{href:R(["schedules"]),children:"Schedules"})," / ",t]}),actions:d,children:[n(W,{of:a,children:p=>n(
"div",{class:"grid",children:[n(Lo,{of:p}),n(O,{title:"Timer of an occurrence",children:[n(lt,{value:Do(p.timer),label:"Template"}),ve.hidePayloads&&n("p",{class:"\
hint",children:"Its payload, body and headers are hidden by the settings of the server."})]}),n(O,{title:"Next occurrences",wide:!0,flush:!0,aside:o.data&&n("sp\
an",{class:"muted",children:["time zones ",o.data.zoneVersion]}),children:[p.status==="paused"&&n("p",{class:"callout",children:"The schedule is paused: these o\
ccurrences are not created until it is resumed."}),n(W,{of:o,children:h=>n(rr,{of:h.occurrences,timeZone:h.timeZone})})]}),n(O,{title:"Decisions",wide:!0,flush:!0,
children:n(W,{of:i,children:({decisions:h})=>h.length===0?n(q,{title:"No occurrence was due yet."}):n(ce,{caption:"Decisions about occurrences",head:["Occurrenc\
e","Decision","Reason","Timer"],stack:!0,children:h.map(f=>n("tr",{children:[n("td",{"data-label":"Occurrence",children:n(B,{at:f.at})}),n("td",{"data-label":"D\
ecision",children:n(ie,{kind:f.decision==="created"?"done":f.decision==="skipped"?"retrying":"paused",children:f.decision})}),n("td",{"data-label":"Reason",children:f.
reason??n("span",{class:"muted",children:"\u2013"})}),n("td",{class:"id","data-label":"Timer",children:f.timerId?n("a",{href:R(["timers",f.timerId]),children:f.
timerId}):n("span",{class:"muted",children:"\u2013"})})]},f.at+f.decidedAt+f.decision))})})})]})}),s&&c&&n(Uo,{of:s,action:c,close:()=>{u(null)},after:l})]})}function Lo({
of:e}){return n(O,{title:"Definition",aside:n(Le,{status:e.status}),children:[n(cn,{of:e.pause}),n($e,{of:[["Occurs",e.specs.map((t,r)=>n("div",{children:n("cod\
e",{children:$a(t)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&n(B,{at:e.nextAt})],["Created timers",e.created],["From",e.start&&n(B,{at:e.start})],["Unt\
il",e.end&&n(B,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.catchUp}, within ${ne(e.catchUpWindow)}`:e.catchUp],["Ski\
pped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Version",e.version],["Updated",n(B,{at:e.updatedAt})]]})]})}function Uo({
of:e,action:t,close:r,after:a}){let[s]=m(e),[o,i]=m(""),[c,u]=m("keep"),l={namespace:s.namespace,id:s.id},d={close:r,after:a};switch(t){case"trigger":return n(fe,
{...d,title:`Trigger ${s.id}`,verb:"Trigger",path:"schedules/trigger",body:()=>l,done:`${s.id} has created an occurrence.`,children:n("p",{children:"Creates an \
occurrence now, in addition to the planned ones."})});case"pause":return n(fe,{...d,title:`Pause ${s.id}`,verb:"Pause",path:"schedules/pause",body:()=>({...l,note:o||
void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused schedule creates no occurrences."}),n(N,{label:"Note",value:o,set:i})]});case"resume":return n(
fe,{...d,title:`Resume ${s.id}`,verb:"Resume",path:"schedules/resume",body:()=>l,done:`${s.id} is resumed.`,children:n("p",{children:"The schedule continues wit\
h its next occurrence."})});case"delete":return n(fe,{...d,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"schedules/delete",done:`${s.id} is deleted.`,after:()=>{
de(["schedules"])},body:()=>({...l,pending:c,ifVersion:s.version}),children:n(pe,{label:"Its timers that are not finished",value:c,set:u,options:[["keep","Keep \
them"],["delete","Delete them"]]})});default:return n(Bo,{of:s,...d})}}function Bo({of:e,close:t,after:r}){let[a,s]=m(""),[o,i]=m(""),[c,u]=m(),[l,d]=m(""),[p,h]=m(
!1),f=dt(),y=te(!1),T=async()=>{let _=ye(o),w=ye(a);if(!w||!_){u(new me(0,"INCOMPLETE","Enter both times."));return}h(!0),u(void 0),y.current=!1;let v=0,g=0,x=()=>`${le(
v,"occurrence")} created, ${g} existed`;try{do{let $=await I("schedules/backfill",{namespace:e.namespace,id:e.id,from:w,to:_});v+=$.created,g+=$.kept,w=$.nextFrom,
d(`${x()}${w?`, continuing at ${ge(w)}`:""}.`)}while(w&&!y.current&&!f.current);w?ke(`${e.id}: ${x()}. Stopped at ${ge(w)}.`,"warn"):ke(`${e.id}: ${x()}.`),!w&&
!f.current&&t()}catch($){let M=se($);f.current&&ke(`Backfill ${e.id}: failed, ${x()}: ${M.message}`,"warn"),u(M)}h(!1),r()};return n(Xe,{title:`Backfill ${e.id}`,
close:t,children:n("form",{onSubmit:_=>{_.preventDefault(),T()},children:[n("p",{children:"Creates the occurrences of a past time range that do not exist. They \
are delivered at once."}),n(N,{label:`From (${Ee()})`,type:"datetime-local",step:"1",value:a,set:s,required:!0}),n(N,{label:"Before",type:"datetime-local",step:"\
1",value:o,set:i,required:!0,hint:"Not in the future."}),l&&n("p",{role:"status",class:"callout",children:l}),c&&n(_e,{error:c}),n("div",{class:"dialog-foot",children:[
p?n(k,{kind:"danger",onClick:()=>{y.current=!0},children:"Stop"}):n(k,{onClick:t,children:"Close"}),n("button",{type:"submit",class:"button primary",disabled:p,
children:p?"Working\u2026":"Backfill"})]})]})})}function Da(e,t){return`curl${De.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${ca}/api/v1/${e} \\
  -d ${on(JSON.stringify(t,null,2))}`}function Ia(e,t){let r=[...t,...S.value==="default"?[]:[["--namespace",S.value]]],a=e.at(-1)??"";return["timerbus "+(a.startsWith(
"-")?[...e.slice(0,-1),`--id=${a}`]:e).map(on).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${on(i)}`)].join(` \\
`)}function ar(e){return Object.fromEntries(Object.entries(e).filter(([t,r])=>r!==void 0&&(r!==""||t==="payload")))}function La({curl:e,cli:t}){return n(O,{title:"\
The same request",children:[n("h3",{children:"curl"}),n($t,{text:e,label:"curl"}),n("h3",{children:"Command line"}),n($t,{text:t,label:"Command line"})]})}function Ua({
title:e,label:t,id:r,invalid:a,send:s,children:o}){let[i,c]=m(),[u,l]=m(!1),d=dt(),p=ue("write",S.value),h=async()=>{if(a){c(new me(0,"INCOMPLETE",a));return}l(
!0),c(void 0);try{let f=await s();d.current||de(f)}catch(f){let y=se(f);d.current&&ke(`${t} ${r}: ${y.message}`,"warn"),c(y)}l(!1)};return n(O,{title:e,children:n(
"form",{onSubmit:f=>{f.preventDefault(),h()},children:[o,i&&n(_e,{error:i}),!p&&n("p",{class:"callout",children:["You have no right to write in ",S.value,"."]}),
n("button",{type:"submit",class:"button primary",disabled:u||!p,children:u?"Sending\u2026":t})]})})}var Ba=[["fail","Refuse (409)"],["replace","Replace it"],["k\
eep","Keep it"]];function Ma({children:e}){return n("details",{class:"more",onInvalidCapture:t=>{t.currentTarget.open=!0},children:[n("summary",{children:"More \
settings"}),e]})}function Ha(){let[e,t]=m(""),[r,a]=m("in"),[s,o]=m("15m"),[i,c]=m(""),[u,l]=m(""),[d,p]=m(Zn),[h,f]=m("http://127.0.0.1:9000/"),[y,T]=m('{"orde\
r": 1842}'),[_,w]=m(""),[v,g]=m(""),[x,$]=m(""),[M,he]=m(""),[Y,Z]=m("fail"),F=At(y),L=ar({namespace:S.value,id:e,executeIn:r==="in"?s:void 0,executeAt:r==="at"?
ye(i):void 0,executeAtLocal:r==="local"?u.length===16?u+":00":u:void 0,timeZone:r==="local"?d:void 0,callbackUrl:h,payload:F.value,retryPolicy:_?{maxAttempts:Number(
_)}:void 0,callbackTimeout:v,correlationId:x,flowKey:M,onConflict:Y}),U=[["--in",r==="in"?s:""],["--at",r==="at"?ye(i)??"":""],["--at-local",String(L.executeAtLocal??
"")],["--time-zone",String(L.timeZone??"")],["--callback-url",h],["--payload",F.value===void 0?"":JSON.stringify(F.value)],["--max-attempts",_],["--callback-tim\
eout",v],["--correlation-id",x],["--flow-key",M],["--on-conflict",Y]],J=async()=>{let{data:P,late:A}=await je("timers/create",L);return ke(A?`${P.id} is replace\
d. An earlier delivery may have been sent.`:`${P.id} is created.`,A?"warn":"ok"),["timers",P.id]};return n(V,{title:"Create timer",crumb:n(b,{children:[n("a",{href:R(
["timers"]),children:"Timers"})," / ",S.value]}),actions:n("a",{class:"button",href:R(["new","schedule"]),children:"Schedule instead"}),children:n("div",{class:"\
grid",children:[n(Ua,{title:"Timer",label:"Create timer",id:e,invalid:F.error,send:J,children:[n(N,{label:"Id",value:e,set:t,required:!0,placeholder:"order-1842",
mono:!0,hint:"Unique in the namespace."}),n(pe,{label:"When",value:r,set:a,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),
r==="in"&&n(N,{label:"Duration",value:s,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&n(N,{label:`Time (${Ee()})`,type:"datetime-local",step:"1",
value:i,set:c,required:!0}),r==="local"&&n(b,{children:[n(N,{label:"Local time",type:"datetime-local",step:"1",value:u,set:l,required:!0}),n(N,{label:"Time zone",
value:d,set:p,hint:"If the rules of the zone change, the timer moves with them."})]}),n(N,{label:"Callback URL",value:h,set:f,mono:!0,hint:"Empty: an event on t\
imerbus.fired."}),n(Ot,{label:"Payload (JSON)",value:y,set:T,error:F.error}),n(pe,{label:"If the id exists",value:Y,set:Z,options:Ba}),n(Ma,{children:[n(N,{label:"\
Attempts, at most",type:"number",value:_,set:w,hint:"1 to 1000; by default those of the namespace."}),n(N,{label:"Callback timeout",value:v,set:g,placeholder:"3\
0s"}),n(N,{label:"Correlation id",value:x,set:$}),n(N,{label:"Flow key",value:M,set:he,hint:"Timers with the same key share a limit of the namespace."})]})]}),n(
La,{curl:Da("timers/create",L),cli:Ia(["timer","create",e||"order-1842"],U)})]})})}function ja(){let[e,t]=m(""),[r,a]=m("cron"),[s,o]=m("0 8 * * MON-FRI"),[i,c]=m(
"15m"),[u,l]=m("FREQ=MONTHLY;BYDAY=-1FR"),[d,p]=m(Zn),[h,f]=m("http://127.0.0.1:9000/"),[y,T]=m(""),[_,w]=m("allow"),[v,g]=m("all"),[x,$]=m(""),[M,he]=m("fail"),
[Y,Z]=m(),[F,L]=m(),U=At(y),J=r==="cron"?{cron:s}:r==="every"?{every:i}:{rrule:u},P=r!=="every",A=ar({namespace:S.value,id:e,specs:[J],timeZone:P?d:void 0,overlap:_,
catchUp:v,count:x?Number(x):void 0,timer:ar({callbackUrl:h,payload:U.value}),onConflict:M}),Te=[[`--${r}`,String(Object.values(J)[0])],["--time-zone",P?d:""],["\
--callback-url",h],["--payload",U.value===void 0?"":JSON.stringify(U.value)],["--overlap",_],["--catch-up",v],["--count",x],["--on-conflict",M]],Oe=JSON.stringify(
{namespace:S.value,specs:[J],timeZone:P?d:void 0});ee(()=>{let rt=new AbortController,Ns=setTimeout(()=>{I("schedules/preview",{...JSON.parse(Oe),limit:6},rt.signal).
then(Tn=>{Z(Tn),L(void 0)},Tn=>{rt.signal.aborted||(L(se(Tn)),Z(void 0))})},300);return()=>{clearTimeout(Ns),rt.abort()}},[Oe]);let Os=async()=>{let{data:rt}=await je(
"schedules/create",A);return ke(`${rt.id} is created.`),["schedules",rt.id]};return n(V,{title:"Create schedule",crumb:n(b,{children:[n("a",{href:R(["schedules"]),
children:"Schedules"})," / ",S.value]}),actions:n("a",{class:"button",href:R(["new","timer"]),children:"Timer instead"}),children:n("div",{class:"grid",children:[
n(Ua,{title:"Schedule",label:"Create schedule",id:e,invalid:U.error,send:Os,children:[n(N,{label:"Id",value:e,set:t,required:!0,placeholder:"daily-report",mono:!0}),
n(pe,{label:"Occurs",value:r,set:a,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&n(N,{label:"Cron expression",value:s,
set:o,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&n(N,{label:"Interval",value:i,set:c,hint:"At le\
ast 1s."}),r==="rrule"&&n(N,{label:"RRULE",value:u,set:l,mono:!0}),P&&n(N,{label:"Time zone",value:d,set:p}),n(N,{label:"Callback URL",value:h,set:f,mono:!0,hint:"\
Empty: an event on timerbus.fired."}),n(Ot,{label:"Payload (JSON)",value:y,set:T,error:U.error,rows:3}),n(pe,{label:"If the id exists",value:M,set:he,options:Ba}),
n(Ma,{children:[n(pe,{label:"If the earlier occurrence is not finished",value:_,set:w,options:[["allow","Create the next one"],["skip","Leave the next one out"],
["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),n(pe,{label:"After an outage",value:v,set:g,options:[["all","Create all of the last\
 minute"],["last","Create the last one"],["none","Create none"]]}),n(N,{label:"Occurrences, at most",type:"number",value:x,set:$})]})]}),n("div",{class:"column",
children:[n(O,{title:"Next occurrences",flush:!0,children:[F&&n(_e,{error:F}),Y&&n(rr,{of:Y.occurrences,timeZone:Y.timeZone})]}),n(La,{curl:Da("schedules/create",
A),cli:Ia(["schedule","create",e||"daily-report"],Te)})]})]})})}function Fa(){let e=j("namespaces",15e3,tn),[t,r]=m(!1);return n(V,{title:"Namespaces",actions:ct("admin")&&n(k,{kind:"primary",onClick:()=>{r(!0)},children:"Cr\
eate namespace\u2026"}),children:[n(O,{flush:!0,wide:!0,children:n(W,{of:e,children:a=>a.length===0?n(q,{title:"You may read no namespace.",command:"timerbus ke\
y list",children:"Ask an administrator for a grant such as read@default."}):n(b,{children:[Kn.value&&n("p",{class:"callout",children:["The first ",E(a.length),"\
 namespaces. ",n("code",{children:"timerbus namespace list"})," prints all."]}),n(ce,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host con\
currency","Max. pending","Signed","Updated"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Namespace",children:[n("a",{href:R(["\
namespaces",s.name]),children:s.name})," ",s.deletingSince&&n(ie,{kind:"dead",children:"being deleted"})]}),n("td",{class:"num","data-label":"Shards",children:s.
numShards}),n("td",{"data-label":"History",children:ne(s.settings.historyRetention)}),n("td",{"data-label":"Dead",children:ne(s.settings.deadRetention)}),n("td",
{class:"num","data-label":"Host concurrency",children:s.settings.hostConcurrency}),n("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?
E(s.settings.quota.maxPending):n("span",{class:"muted",children:"no limit"})}),n("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":n("span",
{class:"muted",children:"no"})}),n("td",{"data-label":"Updated",children:n(B,{at:s.updatedAt,only:"relative"})})]},s.name))})]})})}),t&&n(Mo,{close:()=>{r(!1)},
after:e.again})]})}function Mo({close:e,after:t}){let[r,a]=m(""),[s,o]=m("small");return n(fe,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:s}:"Enter a name.",done:`${r} is created.`,close:e,after:t,children:[n(N,{label:"Name",value:r,set:a,required:!0}),n(pe,{label:"Size",value:s,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function Ja({name:e}){let t=j(`namespace/${e}`,5e3,u=>I("namespaces/get",{name:e},u)),[r,a]=m(null),[s,o]=m(!1),i=u=>{
a({title:`${u==="pause"?"Pause":"Resume"} ${e}`,verb:u==="pause"?"Pause":"Resume",done:u==="pause"?"paused":"resumed",path:`timers/${u}-matching`,filter:{namespace:e},
describe:u==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(l,d)=>et(
{namespace:e},u==="resume"?["paused"]:["scheduled","retrying"],l,d)})},c=t.data&&n(b,{children:[ue("write",e)&&n(k,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),ue("write",e)&&n(k,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),ue("admin",e)&&n(k,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return n(V,{title:e,crumb:n("a",{href:R(["namespaces"]),children:"Namespaces"}),actions:c,children:[n(W,{of:t,children:u=>{let l=u.settings,d=l.
retryPolicy;return n("div",{class:"grid",children:[n(O,{title:"Settings",aside:u.deletingSince&&n(ie,{kind:"dead",children:"being deleted"}),children:n($e,{of:[
["Shards",u.numShards],["Callback timeout",ne(l.callbackTimeout)],["Retry",`${le(d.maxAttempts,"attempt")}, from ${ne(d.initialInterval)}, \xD7 ${JSON.stringify(
d.backoffMultiplier)}, to ${ne(d.maxInterval)}`],["History",ne(l.historyRetention)],["Dead timers",ne(l.deadRetention)],["Payloads of done timers",l.keepPayload?
ne(l.keepPayload):"not kept"],["Final statuses",l.finalStatuses?.join(", ")],["Event topics",l.eventTopics?.join(", ")],["On done",l.onDone&&n("code",{children:l.
onDone})],["On dead",l.onDead&&n("code",{children:l.onDead})],["Result events",l.results],["Headers",l.headers&&Object.keys(l.headers).join(", ")],["Version",u.
version],["Updated",n(B,{at:u.updatedAt})]]})}),n(O,{title:"Limits",children:n($e,{of:[["Calls of one host",`${l.hostConcurrency} for each dispatcher`],["Pendin\
g timers",l.quota?.maxPending?E(l.quota.maxPending):"no limit"],["Creates",l.quota?.createsPerSecond?`${E(l.quota.createsPerSecond)} per second`:"no limit"],["P\
ayload",l.quota?.maxPayloadBytes?`${E(l.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(l.flows??[]).map(p=>[`Flow ${p.pattern}`,an(p)])]})}),n(O,{title:"Ke\
ys of signatures",flush:!0,wide:!0,children:l.secrets?.length?n(ce,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:l.secrets.map(p=>n("tr",
{children:[n("td",{children:n("code",{children:p.id})}),n("td",{children:n(B,{at:p.createdAt})}),n("td",{children:p.expiresAt?n(B,{at:p.expiresAt}):"never"})]},
p.id))}):n(q,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),
(l.callbackAuth||l.tls)&&n(O,{title:"Authentication of callbacks",children:n($e,{of:[["Type",l.callbackAuth?.type],["Token endpoint",l.callbackAuth?.tokenUrl],[
"Client",l.callbackAuth?.clientId??l.callbackAuth?.username],["Own authorities",l.tls?.ca&&"yes"],["Client certificate",l.tls?.certificate&&"yes"]]})})]})}}),r&&
n(pt,{action:r,close:()=>{a(null)},after:t.again}),s&&t.data&&n(Ho,{of:t.data,close:()=>{o(!1)},after:t.again})]})}function Ho({of:e,close:t,after:r}){let[a]=m(
e),s=a.settings,o={callbackTimeout:ne(s.callbackTimeout),historyRetention:ne(s.historyRetention),deadRetention:ne(s.deadRetention),hostConcurrency:String(s.hostConcurrency),
maxPending:String(s.quota?.maxPending??"")},[i,c]=m(o),u=d=>p=>{c({...i,[d]:p})},l=()=>{let d={};for(let p of["callbackTimeout","historyRetention","deadRetentio\
n"])i[p]!==o[p]&&(d[p]=i[p]||null);return i.hostConcurrency!==o.hostConcurrency&&(d.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==
o.maxPending&&(d.quota={...s.quota,maxPending:i.maxPending?Number(i.maxPending):null}),Object.keys(d).length?{name:a.name,settings:d,ifVersion:a.version}:"Nothi\
ng has changed."};return n(fe,{title:`Edit ${a.name}`,verb:"Save",path:"namespaces/update",body:l,done:`${a.name} is updated.`,close:t,after:r,children:[n(N,{label:"\
Callback timeout",value:i.callbackTimeout,set:u("callbackTimeout"),hint:"1s to 5m"}),n(N,{label:"History retention",value:i.historyRetention,set:u("historyReten\
tion")}),n(N,{label:"Dead retention",value:i.deadRetention,set:u("deadRetention")}),n(N,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,
set:u("hostConcurrency"),hint:"1 to 1024"}),n(N,{label:"Pending timers, at most",type:"number",value:i.maxPending,set:u("maxPending"),hint:"Empty: no limit"}),n(
"p",{class:"hint",children:["Empty fields get their default. All other settings: ",n("code",{children:["timerbus namespace update ",a.name," --help"]})]})]})}var sr;(typeof navigator>"u"||!navigator.userAgent?.startsWith?.("Mozilla/5.0 "))&&(sr="oauth4webapi/v3.8.8");function kn(e,t){if(e==null)return!1;try{return e instanceof
t||Object.getPrototypeOf(e)[Symbol.toStringTag]===t.prototype[Symbol.toStringTag]}catch{return!1}}var Re="ERR_INVALID_ARG_VALUE",Pe="ERR_INVALID_ARG_TYPE";function G(e,t,r){
let a=new TypeError(e,{cause:r});return Object.assign(a,{code:t}),a}var xn=Symbol(),jo=Symbol(),Fo=Symbol(),Ka=Symbol();var qa=Symbol();var Jo=new TextEncoder,qo=new TextDecoder;function or(e){return typeof e=="string"?Jo.encode(e):qo.decode(e)}var ir;Uint8Array.prototype.toBase64?ir=e=>(e instanceof
ArrayBuffer&&(e=new Uint8Array(e)),e.toBase64({alphabet:"base64url",omitPadding:!0})):ir=t=>{t instanceof ArrayBuffer&&(t=new Uint8Array(t));let r=[];for(let a=0;a<
t.byteLength;a+=32768)r.push(String.fromCharCode.apply(null,t.subarray(a,a+32768)));return btoa(r.join("")).replace(/=/g,"").replace(/\+/g,"-").replace(/\//g,"_")};
var cr;Uint8Array.fromBase64?cr=e=>{try{return Uint8Array.fromBase64(e,{alphabet:"base64url"})}catch(t){throw G("The input to be decoded is not correctly encode\
d.",Re,t)}}:cr=e=>{try{let t=atob(e.replace(/-/g,"+").replace(/_/g,"/").replace(/\s/g,"")),r=new Uint8Array(t.length);for(let a=0;a<t.length;a++)r[a]=t.charCodeAt(
a);return r}catch(t){throw G("The input to be decoded is not correctly encoded.",Re,t)}};function gn(e){return typeof e=="string"?cr(e):ir(e)}var mt=class extends Error{code;constructor(t,r){
super(t,r),this.name=this.constructor.name,this.code=Ri,Error.captureStackTrace?.(this,this.constructor)}},ur=class extends Error{code;constructor(t,r){super(t,
r),this.name=this.constructor.name,r?.code&&(this.code=r?.code),Error.captureStackTrace?.(this,this.constructor)}};function C(e,t,r){return new ur(e,{code:t,cause:r})}function yn(e){return!(e===null||typeof e!="object"||Array.isArray(e))}function Va(e){kn(e,Headers)&&(e=Object.fromEntries(e.entries()));let t=new Headers(e??{});
if(sr&&!t.has("user-agent")&&t.set("user-agent",sr),t.has("authorization"))throw G('"options.headers" must not include the "authorization" header name',Re);return t}
function Za(e,t){if(t!==void 0){if(typeof t=="function"&&(t=t(e.href)),!(t instanceof AbortSignal))throw G('"options.signal" must return or be an instance of Ab\
ortSignal',Pe);return t}}function Ga(e){return e.includes("//")?e.replace("//","/"):e}function Wo(e,t,r=!1){return e.pathname==="/"?e.pathname=t:e.pathname=Ga(`${t}\
/${r?e.pathname:e.pathname.replace(/(\/)$/,"")}`),e}function zo(e,t){return e.pathname=Ga(`${e.pathname}/${t}`),e}async function Ko(e,t,r,a){if(!(e instanceof URL))
throw G(`"${t}" must be an instance of URL`,Pe);cs(e,a?.[xn]!==!0);let s=r(new URL(e.href)),o=Va(a?.headers);return o.set("accept","application/json"),(a?.[Ka]||
fetch)(s.href,{body:void 0,headers:Object.fromEntries(o.entries()),method:"GET",redirect:"manual",signal:Za(s,a?.signal)})}async function Ya(e,t){return Ko(e,"i\
ssuerIdentifier",r=>{switch(t?.algorithm){case void 0:case"oidc":zo(r,".well-known/openid-configuration");break;case"oauth2":Wo(r,".well-known/oauth-authorizati\
on-server");break;default:throw G('"options.algorithm" must be "oidc" (default), or "oauth2"',Re)}return r},t)}function _n(e,t,r,a,s){try{if(typeof e!="number"||
!Number.isFinite(e))throw G(`${r} must be a number`,Pe,s);if(e>0)return;if(t){if(e!==0)throw G(`${r} must be a non-negative number`,Re,s);return}throw G(`${r} m\
ust be a positive number`,Re,s)}catch(o){throw a?C(o.message,a,s):o}}function xe(e,t,r,a){try{if(typeof e!="string")throw G(`${t} must be a string`,Pe,a);if(e.length===
0)throw G(`${t} must not be empty`,Re,a)}catch(s){throw r?C(s.message,r,a):s}}async function Qa(e,t){let r=e;if(!(r instanceof URL)&&r!==za)throw G('"expectedIs\
suerIdentifier" must be an instance of URL',Pe);if(!kn(t,Response))throw G('"response" must be an instance of Response',Pe);if(t.status!==200)throw C('"response\
" is not a conform Authorization Server Metadata response (unexpected HTTP status code)',_s,t);yr(t);let a=await vs(t);if(xe(a.issuer,'"response" body "issuer" \
property',H,{body:a}),r!==za&&new URL(a.issuer).href!==r.href)throw C('"response" body "issuer" property does not match the expected value',Ni,{expected:r.href,
body:a,attribute:"issuer"});return a}function Xa(e){Zo(e,"application/json")}function Vo(e,...t){let r='"response" content-type must be ';if(t.length>2){let a=t.
pop();r+=`${t.join(", ")}, or ${a}`}else t.length===2?r+=`${t[0]} or ${t[1]}`:r+=t[0];return C(r,Ei,e)}function Zo(e,t){if(li(e)!==t)throw Vo(e,t)}function fr(){return gn(crypto.getRandomValues(new Uint8Array(32)))}function es(){return fr()}function ts(){return fr()}
function ns(){return fr()}async function rs(e){return xe(e,"codeVerifier"),gn(await crypto.subtle.digest("SHA-256",or(e)))}function as(e){let t=e?.[jo];return typeof t=="number"&&Number.isFinite(t)?t:0}function ss(e){let t=e?.[Fo];return typeof t=="number"&&Number.isFinite(t)&&Math.
sign(t)!==-1?t:30}function os(){return Math.floor(Date.now()/1e3)}function hr(e){if(typeof e!="object"||e===null)throw G('"as" must be an object',Pe);xe(e.issuer,
'"as.issuer"')}function mr(e){if(typeof e!="object"||e===null)throw G('"client" must be an object',Pe);xe(e.client_id,'"client.client_id"')}function is(){return(e,t,r,a)=>{r.set("client_id",t.client_id)}}var Go=URL.parse?(e,t)=>URL.parse(e,t):(e,t)=>{try{return new URL(e,t)}catch{return null}};function cs(e,t){if(t&&e.protocol!=="https:")throw C("only requests t\
o HTTPS are allowed",$i,e);if(e.protocol!=="https:"&&e.protocol!=="http:")throw C("only HTTP and HTTPS requests are allowed",Oi,e)}function Wa(e,t,r,a){let s;if(typeof e!=
"string"||!(s=Go(e)))throw C(`authorization server metadata does not contain a valid ${r?`"as.mtls_endpoint_aliases.${t}"`:`"as.${t}"`}`,e===void 0?Di:Ii,{attribute:r?
`mtls_endpoint_aliases.${t}`:t});return cs(s,a),s}function Yo(e,t,r,a){return r&&e.mtls_endpoint_aliases&&t in e.mtls_endpoint_aliases?Wa(e.mtls_endpoint_aliases[t],
t,r,a):Wa(e[t],t,r,a)}var Dt=class extends Error{cause;code;error;status;error_description;response;constructor(t,r){super(t,r),this.name=this.constructor.name,this.code=Ai,this.cause=
r.cause,this.error=r.cause.error,this.status=r.response.status,this.error_description=r.cause.error_description,Object.defineProperty(this,"response",{enumerable:!1,
value:r.response}),Error.captureStackTrace?.(this,this.constructor)}},It=class extends Error{cause;code;error;error_description;constructor(t,r){super(t,r),this.
name=this.constructor.name,this.code=Pi,this.cause=r.cause,this.error=r.cause.get("error"),this.error_description=r.cause.get("error_description")??void 0,Error.
captureStackTrace?.(this,this.constructor)}},lr=class extends Error{cause;code;response;status;constructor(t,r){super(t,r),this.name=this.constructor.name,this.
code=Ci,this.cause=r.cause,this.status=r.response.status,this.response=r.response,Object.defineProperty(this,"response",{enumerable:!1}),Error.captureStackTrace?.(
this,this.constructor)}},bn="[a-zA-Z0-9!#$%&\\'\\*\\+\\-\\.\\^_`\\|~]+",Qo="[a-zA-Z0-9\\-\\._\\~\\+\\/]+={0,2}",Xo='"((?:[^"\\\\]|\\\\[\\s\\S])*)"',ei="("+bn+")\
\\s*=\\s*"+Xo,ti="("+bn+")\\s*=\\s*("+bn+")",ni=new RegExp("^[,\\s]*("+bn+")"),ri=new RegExp("^[,\\s]*"+ei+"[,\\s]*(.*)"),ai=new RegExp("^[,\\s]*"+ti+"[,\\s]*(.*\
)"),si=new RegExp("^("+Qo+")(?:$|[,\\s])(.*)");function oi(e){if(!kn(e,Response))throw G('"response" must be an instance of Response',Pe);let t=e.headers.get("w\
ww-authenticate");if(t===null)return;let r=[],a=t;for(;a;){let s=a.match(ni),o=s?.[1].toLowerCase();if(!o)return;let i=a.substring(s[0].length);if(i&&!i.match(/^[\s,]/))
return;let c=i.match(/^\s+(.*)$/),u=!!c;a=c?c[1]:void 0;let l={},d;if(u)for(;a;){let h,f;if(s=a.match(ri)){[,h,f,a]=s,f.includes("\\")&&(f=f.replace(/\\([\s\S])/g,
"$1")),l[h.toLowerCase()]=f;continue}if(s=a.match(ai)){[,h,f,a]=s,l[h.toLowerCase()]=f;continue}if(s=a.match(si)){if(Object.keys(l).length)break;[,d,a]=s;break}
return}else a=i||void 0;let p={scheme:o,parameters:l};d&&(p.token68=d),r.push(p)}if(r.length)return r}async function ii(e){if(e.status>399&&e.status<500){yr(e),Xa(e);try{let t=await e.clone().json();if(yn(t)&&typeof t.error=="string"&&t.error.length)return t}catch{}}}
async function ci(e,t,r){if(e.status!==t){hi(e);let a;throw(a=await ii(e))?(await e.body?.cancel(),new Dt("server responded with an error in the response body",
{cause:a,response:e})):C(`"response" is not a conform ${r} response (unexpected HTTP status code)`,_s,e)}}function ui(e){if(!gr.has(e))throw G('"options.DPoP" i\
s not a valid DPoPHandle',Re)}function li(e){return e.headers.get("content-type")?.split(";")[0]}async function di(e,t,r,a,s,o,i){return await r(e,t,s,o),o.set("content-type","application/x-www-form-urlencoded;charset=UTF-8"),(i?.[Ka]||fetch)(a.href,{body:s,
headers:Object.fromEntries(o.entries()),method:"POST",redirect:"manual",signal:Za(a,i?.signal)})}async function pi(e,t,r,a,s,o){let i=Yo(e,"token_endpoint",t.use_mtls_endpoint_aliases,
o?.[xn]!==!0);s.set("grant_type",a);let c=Va(o?.headers);c.set("accept","application/json"),o?.DPoP!==void 0&&(ui(o.DPoP),await o.DPoP.addProof(i,c,"POST"));let u=await di(
e,t,r,i,s,c,o);return o?.DPoP?.cacheNonce(u,i),u}var us=new WeakMap,fi=new WeakMap;function ls(e){if(!e.id_token)return;let t=us.get(e);if(!t)throw G('"ref" was already garbage collected or did not resolve fro\
m the proper sources',Re);return t}async function ds(e,t,r,a,s,o){if(hr(e),mr(t),!kn(r,Response))throw G('"response" must be an instance of Response',Pe);await ci(r,200,"Token Endpoint"),yr(r);let i=await vs(
r);if(xe(i.access_token,'"response" body "access_token" property',H,{body:i}),xe(i.token_type,'"response" body "token_type" property',H,{body:i}),i.token_type=i.
token_type.toLowerCase(),i.expires_in!==void 0){let c=typeof i.expires_in!="number"?parseFloat(i.expires_in):i.expires_in;_n(c,!0,'"response" body "expires_in" \
property',H,{body:i}),i.expires_in=c}if(i.refresh_token!==void 0&&xe(i.refresh_token,'"response" body "refresh_token" property',H,{body:i}),i.scope!==void 0&&typeof i.
scope!="string")throw C('"response" body "scope" property must be a string',H,{body:i});if(i.id_token!==void 0){xe(i.id_token,'"response" body "id_token" proper\
ty',H,{body:i});let c=[];t.require_auth_time===!0&&c.push("auth_time"),t.default_max_age!==void 0&&(_n(t.default_max_age,!0,'"client.default_max_age"'),c.push("\
auth_time")),a?.length&&c.push(...a);let{claims:u,jwt:l}=await wi(e,t,i.id_token,c,s);xi(t,u),ki(u),fi.set(r,l),us.set(i,u)}if(o?.[i.token_type]!==void 0)o[i.token_type](
r,i);else if(i.token_type!=="dpop"&&i.token_type!=="bearer")throw new mt("unsupported `token_type` value",{cause:{body:i}});return i}function hi(e){let t;if(t=oi(
e))throw new lr("server responded with a challenge in the WWW-Authenticate HTTP Header",{cause:t,response:e})}function mi(e,t){if(Array.isArray(t.claims.aud)){if(!t.claims.aud.includes(e))throw C('unexpected JWT "aud" (audience) claim value',gt,{expected:e,claims:t.claims,
claim:"aud"})}else if(t.claims.aud!==e)throw C('unexpected JWT "aud" (audience) claim value',gt,{expected:e,claims:t.claims,claim:"aud"});return t}function gi(e,t){let r=e[Hi]?.(t)??e.issuer;if(t.claims.iss!==r)throw C('unexpected JWT "iss" (issuer) claim value',gt,{expected:r,claims:t.claims,claim:"iss"});
return t}var gr=new WeakSet;function yi(e){return gr.add(e),e}var _i=Symbol();async function ps(e,t,r,a,s,o,i){if(hr(e),mr(t),!gr.has(a))throw G('"callbackParam\
eters" must be an instance of URLSearchParams obtained from "validateAuthResponse()", or "validateJwtAuthResponse()',Re);xe(s,'"redirectUri"');let c=nt(a,"code");
if(!c)throw C('no authorization code in "callbackParameters"',H);let u=new URLSearchParams(i?.additionalParameters);return u.set("redirect_uri",s),u.set("code",
c),o!==_i&&(xe(o,'"codeVerifier"'),u.set("code_verifier",o)),pi(e,t,r,"authorization_code",u,i)}var fs={aud:"audience",c_hash:"code hash",client_id:"client id",
exp:"expiration time",iat:"issued at",iss:"issuer",jti:"jwt id",nonce:"nonce",s_hash:"state hash",sub:"subject",ath:"access token hash",htm:"http method",htu:"h\
ttp uri",cnf:"confirmation",auth_time:"authentication time"};function bi(e,t){for(let r of e)if(t.claims[r]===void 0)throw C(`JWT "${r}" (${fs[r]}) claim missin\
g`,H,{claims:t.claims});return t}function vi(e,t){if(typeof t.claims[e]!="string")throw C(`unexpected JWT "${e}" (${fs[e]}) claim type`,H,{claims:t.claims});return t}
function wi(e,t,r,a,s){return Li(r,Ui.bind(void 0,t.id_token_signed_response_alg,e.id_token_signing_alg_values_supported,"RS256"),as(t),ss(t),s).then(bi.bind(void 0,
["aud","exp","iat","iss","sub",...a])).then(gi.bind(void 0,e)).then(mi.bind(void 0,t.client_id)).then(vi.bind(void 0,"sub"))}function hs(e,t){if(t===wn)return t;
let r=t===void 0;return r&&(t=e.default_max_age),t===void 0?wn:(_n(t,!0,r?'"client.default_max_age"':'"maxAge" argument'),t)}function ki(e){e.auth_time!==void 0&&
_n(e.auth_time,!0,'ID Token "auth_time" (authentication time)',H,{claims:e})}function ms(e,t,r){if(r===wn)return;let a=os()+as(e),s=ss(e);if(t.auth_time+r<a-s)throw C(
"too much time has elapsed since the last End-User authentication",pr,{claims:t,now:a,tolerance:s,claim:"auth_time"})}function gs(e,t){let r=t===vn?void 0:t;if(e.
nonce!==r)throw C('unexpected ID Token "nonce" claim value',gt,{expected:r,claims:e,claim:"nonce"})}function xi(e,t){if(Array.isArray(t.aud)&&t.aud.length!==1){
if(t.azp===void 0)throw C('ID Token "aud" (audience) claim includes additional untrusted audiences',gt,{claims:t,claim:"aud"});if(t.azp!==e.client_id)throw C('u\
nexpected ID Token "azp" (authorized party) claim value',gt,{expected:e.client_id,claims:t,claim:"azp"})}}var vn=Symbol(),wn=Symbol();async function ys(e,t,r,a){
return typeof a?.expectedNonce=="string"||typeof a?.maxAge=="number"||a?.requireIdToken?Si(e,t,r,a.expectedNonce,a.maxAge,a[qa],a.recognizedTokenTypes):Ti(e,t,r,
a?.maxAge,a?.[qa],a?.recognizedTokenTypes)}async function Si(e,t,r,a,s,o,i){let c=[];switch(a){case void 0:a=vn;break;case vn:break;default:xe(a,'"expectedNonce\
" argument'),c.push("nonce")}s=hs(t,s),s!==wn&&c.push("auth_time");let u=await ds(e,t,r,c,o,i);xe(u.id_token,'"response" body "id_token" property',H,{body:u});let l=ls(
u);return ms(t,l,s),gs(l,a),u}async function Ti(e,t,r,a,s,o){let i=await ds(e,t,r,void 0,s,o),c=ls(i);return c&&(ms(t,c,hs(t,a)),gs(c,vn)),i}var Ci="OAUTH_WWW_A\
UTHENTICATE_CHALLENGE",Ai="OAUTH_RESPONSE_BODY_ERROR",Ri="OAUTH_UNSUPPORTED_OPERATION",Pi="OAUTH_AUTHORIZATION_RESPONSE_ERROR";var dr="OAUTH_PARSE_ERROR",H="OAUTH_INVALID_RESPONSE";var Ei="OAUTH_RESPONSE_IS_NOT_JSON",_s="OAUTH_RESPONSE_IS_NOT_CONFORM",$i="OAUTH_HTTP_REQUEST_FORBIDDEN",Oi="OAUTH_REQUEST_PROTOCOL_FORBIDDEN",pr="OAUTH_JWT_TIM\
ESTAMP_CHECK_FAILED",gt="OAUTH_JWT_CLAIM_COMPARISON_FAILED",Ni="OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";var Di="OAUTH_MISSING_SERVER_METADATA",Ii="OAUTH_INVALID_SERVER_METADATA";function yr(e){if(e.bodyUsed)throw G('"response" body has been used already',Re)}async function Li(e,t,r,a,s){let{0:o,1:i,length:c}=e.split(".");if(c===5)if(s!==void 0)e=await s(e),{0:o,1:i,length:c}=e.split(".");else throw new mt("JWE decry\
ption is not configured",{cause:e});if(c!==3)throw C("Invalid JWT",H,e);let u;try{u=JSON.parse(or(gn(o)))}catch(p){throw C("failed to parse JWT Header body as b\
ase64url encoded JSON",dr,p)}if(!yn(u))throw C("JWT Header must be a top level object",H,e);if(t(u),u.crit!==void 0)throw new mt('no JWT "crit" header parameter\
 extensions are supported',{cause:{header:u}});let l;try{l=JSON.parse(or(gn(i)))}catch(p){throw C("failed to parse JWT Payload body as base64url encoded JSON",dr,
p)}if(!yn(l))throw C("JWT Payload must be a top level object",H,e);let d=os()+r;if(l.exp!==void 0){if(typeof l.exp!="number")throw C('unexpected JWT "exp" (expi\
ration time) claim type',H,{claims:l});if(l.exp<=d-a)throw C('unexpected JWT "exp" (expiration time) claim value, expiration is past current timestamp',pr,{claims:l,
now:d,tolerance:a,claim:"exp"})}if(l.iat!==void 0&&typeof l.iat!="number")throw C('unexpected JWT "iat" (issued at) claim type',H,{claims:l});if(l.iss!==void 0&&
typeof l.iss!="string")throw C('unexpected JWT "iss" (issuer) claim type',H,{claims:l});if(l.nbf!==void 0){if(typeof l.nbf!="number")throw C('unexpected JWT "nb\
f" (not before) claim type',H,{claims:l});if(l.nbf>d+a)throw C('unexpected JWT "nbf" (not before) claim value',pr,{claims:l,now:d,tolerance:a,claim:"nbf"})}if(l.
aud!==void 0&&typeof l.aud!="string"&&!Array.isArray(l.aud))throw C('unexpected JWT "aud" (audience) claim type',H,{claims:l});return{header:u,claims:l,jwt:e}}function Ui(e,t,r,a){if(e!==void 0){if(typeof e=="string"?a.alg!==e:!e.includes(a.alg))throw C('unexpected JWT "alg" header parameter',H,{header:a,expected:e,reason:"\
client configuration"});return}if(Array.isArray(t)){if(!t.includes(a.alg))throw C('unexpected JWT "alg" header parameter',H,{header:a,expected:t,reason:"authori\
zation server metadata"});return}if(r!==void 0){if(typeof r=="string"?a.alg!==r:typeof r=="function"?!r(a.alg):!r.includes(a.alg))throw C('unexpected JWT "alg" \
header parameter',H,{header:a,expected:r,reason:"default value"});return}throw C('missing client or server configuration to verify used JWT "alg" header paramet\
er',void 0,{client:e,issuer:t,fallback:r})}function nt(e,t){let{0:r,length:a}=e.getAll(t);if(a>1)throw C(`"${t}" parameter must be provided only once`,H);return r}
var Bi=Symbol(),Mi=Symbol();function bs(e,t,r,a){if(hr(e),mr(t),r instanceof URL&&(r=r.searchParams),!(r instanceof URLSearchParams))throw G('"parameters" must \
be an instance of URLSearchParams, or URL',Pe);if(nt(r,"response"))throw C('"parameters" contains a JARM response, use validateJwtAuthResponse() instead of vali\
dateAuthResponse()',H,{parameters:r});let s=nt(r,"iss"),o=nt(r,"state");if(!s&&e.authorization_response_iss_parameter_supported)throw C('response parameter "iss\
" (issuer) missing',H,{parameters:r});if(s&&s!==e.issuer)throw C('unexpected "iss" (issuer) response parameter value',H,{expected:e.issuer,parameters:r});switch(a){case void 0:case Mi:
if(o!==void 0)throw C('unexpected "state" response parameter encountered',H,{expected:void 0,parameters:r});break;case Bi:break;default:if(xe(a,'"expectedState"\
 argument'),o!==a)throw C(o===void 0?'response parameter "state" missing':'unexpected "state" response parameter value',H,{expected:a,parameters:r})}if(nt(r,"er\
ror"))throw new It("authorization response from the server is an error",{cause:r});let c=nt(r,"id_token"),u=nt(r,"token");if(c!==void 0||u!==void 0)throw new mt(
"implicit and hybrid flows are not supported");return yi(new URLSearchParams(r))}async function vs(e,t=Xa){let r;try{r=await e.json()}catch(a){throw t(e),C('failed to parse "response" body as JSON',dr,a)}if(!yn(r))throw C('"response" body mu\
st be a top level object',H,{body:r});return r}var za=Symbol(),Hi=Symbol();var br="timerbus-sign-in",Fi=1e4,vr=new URL("./",document.baseURI).href,{issuer:yt,audience:ws,clientID:Sn,scopes:Ji}=ve.signIn,_r={client_id:Sn},We=Sn&&new URL(
yt).host,ks=()=>({[xn]:yt.startsWith("http:"),signal:AbortSignal.timeout(Fi)});async function xs(){if(!isSecureContext)throw new Error("This page must be opened\
 with HTTPS to sign in with the identity provider.");let e=await Qa(new URL(yt),await Ya(new URL(yt),ks()));if(!e.authorization_endpoint||!e.token_endpoint)throw new Error(
"It has no endpoints for the sign-in of users.");if(new URL(e.token_endpoint).origin!==new URL(yt).origin)throw new Error(`Its token endpoint ${e.token_endpoint}\
 has another origin than the issuer, to which the policy of this page allows no requests.`);if(new URL(e.authorization_endpoint).protocol!==new URL(yt).protocol)
throw new Error(`Its sign-in page ${e.authorization_endpoint} has another scheme than the issuer.`);return e}function Ss(e){if(e instanceof It||e instanceof Dt)
return new Error(`${We} refuses the sign-in: ${[e.error,e.error_description].filter(Boolean).join(": ")}`);let t=e instanceof Error?e.message:String(e);return e instanceof
TypeError&&!e.code?new Error(`${We} cannot be reached from this browser, or does not allow requests of this page (CORS): ${t}`):new Error(`The sign-in with ${We}\
 has failed: ${t}`)}async function Ts(){try{let e=await xs(),t={state:ts(),nonce:ns(),verifier:es(),hash:location.hash},r=new URL(e.authorization_endpoint);for(let[
a,s]of Object.entries({response_type:"code",client_id:Sn,redirect_uri:vr,scope:Ji,state:t.state,nonce:t.nonce,code_challenge:await rs(t.verifier),code_challenge_method:"\
S256"}))r.searchParams.set(a,s);sessionStorage.setItem(br,JSON.stringify(t)),location.assign(r)}catch(e){throw Ss(e)}}function Cs(){let e=new URLSearchParams(location.
search);return Sn!==""&&(e.has("code")||e.has("error"))}async function As(){let e=new URL(location.href),t=JSON.parse(sessionStorage.getItem(br)??"null");if(sessionStorage.
removeItem(br),history.replaceState(null,"",vr+(t?.hash??"")),dispatchEvent(new HashChangeEvent("hashchange")),!t)throw new Error("The answer of the identity pr\
ovider belongs to no sign-in of this tab. Sign in again.");try{let r=await xs(),a=bs(r,_r,e,t.state),s=await ps(r,_r,is(),a,vr,t.verifier,ks()),o=await ys(r,_r,
s,{expectedNonce:t.nonce,requireIdToken:!0}),i=[o.access_token,o.id_token].find(c=>c!==void 0&&qi(c).includes(ws));if(!i)throw new Error(`neither the access tok\
en nor the ID token is a JWT with the audience ${ws}.`);it(i)}catch(r){throw Ss(r)}}function qi(e){try{let t=atob((e.split(".")[1]??"").replaceAll("-","+").replaceAll(
"_","/"));return[JSON.parse(t).aud??[]].flat()}catch{return[]}}var Wi=50;function zi(e){if(!e.held)return"free";let t=Gn(e.overdueFor??"");return t>=6e4?"l4":t>=1e4?"l3":t>=2e3?"l2":t>0?"l1":"l0"}var Ki=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Rs(){let e=S.value,t=j(`shards/${e}`,5e3,s=>I("shards/list",
{namespace:e},s)),[r,a]=m(Wi);return n(V,{title:"Shards",children:n(W,{of:t,children:({shards:s})=>{let o=s.filter(p=>!p.held).length,i=s.filter(p=>p.overdueFor),
c=Math.max(0,...i.map(p=>Gn(p.overdueFor??""))),u=new Map;for(let p of s)p.held&&u.set(p.node??"",(u.get(p.node??"")??0)+1);let l=Math.max(1,...u.values()),d=Pt();
return n(b,{children:[n("div",{class:"tiles",children:[n(re,{label:"Shards",value:E(s.length),hint:e}),n(re,{label:"Without an owner",value:E(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),n(re,{label:"With overdue timers",value:E(i.length),kind:c>1e4?"warn":"",hint:c?`longest ${Je(c)}`:
"none"}),n(re,{label:"Nodes",value:E(u.size),hint:"that own shards"})]}),n("div",{class:"grid",children:[n(O,{title:"Lag",wide:!0,aside:n("div",{class:"legend",
children:Ki.map(([p,h])=>n("span",{children:[n("i",{class:`cell ${p}`}),h]},p))}),children:n("div",{class:"heat",role:"img","aria-label":`${le(s.length,"shard")}\
: ${o} without an owner, ${i.length} with overdue timers. The table below lists ${s.length>r?`the first ${r}`:"them"}.`,children:s.map(p=>n("i",{class:`cell ${zi(
p)}`,title:`shard ${p.shard}, partition ${p.partition}, ${p.held?p.node:"no owner"}${p.overdueFor?`, overdue for ${p.overdueFor}`:""}`},p.shard))})}),n(O,{title:"\
Balance",wide:!0,children:u.size===0?n(q,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):n("ul",{class:"balan\
ce",children:[...u].sort(([p],[h])=>p<h?-1:1).map(([p,h])=>n("li",{children:[n("span",{class:"clip",children:p}),n("span",{class:"meter","aria-hidden":"true",children:n(
"span",{style:{width:`${h/l*100}%`}})}),n("span",{class:"num",children:le(h,"shard")})]},p))})}),n(O,{title:"Every shard",wide:!0,flush:!0,children:[n(ce,{caption:"\
Shards",head:["Shard","Partition","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(p=>n("tr",{children:[n("td",{class:"\
num","data-label":"Shard",children:p.shard}),n("td",{class:"num","data-label":"Partition",children:p.partition}),n("td",{class:"clip","data-label":"Owner",children:p.
held?p.node:n(ie,{kind:"retrying",children:"none"})}),n("td",{"data-label":"Claimed",children:n(B,{at:p.claimedAt,only:"relative"})}),n("td",{"data-label":"Wate\
rmark",children:p.watermark?n("time",{dateTime:p.watermark,title:p.watermark,children:[Je(Math.max(0,d-Date.parse(p.watermark)))," behind"]}):n("span",{class:"m\
uted",children:"\u2013"})}),n("td",{"data-label":"Next due",children:n(B,{at:p.nextDueAt,only:"relative"})}),n("td",{class:"num","data-label":"Overdue for",children:p.
overdueFor??n("span",{class:"muted",children:"\u2013"})})]},p.shard))}),s.length>r&&n("div",{class:"pager",children:[n("span",{class:"muted",children:[r," of ",
E(s.length)]}),n(k,{onClick:()=>{a(r+500)},children:"Show more"})]})]})]})]})}})})}function Vi(){let e=te(new ht("dispatcher_callback_seconds_count")),t=S.value,r=j(`callbacks/${t}`,3e3,async a=>{let s=new ft(await Xt(a)),o=e.current.add(s),i=c=>s.
quantile(c,"dispatcher_callback_seconds",o,{namespace:t});return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queue\
d"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...s.by("dispatcher_callbacks_total","re\
sult",{namespace:t})].filter(([,c])=>c>0)}});return n(W,{of:r,children:a=>a.called===void 0?n("p",{class:"callout",children:["This process delivers no timers, s\
o it knows no hosts. Dispatchers export their figures at ",n("code",{children:"/metrics"}),"."]}):n(b,{children:[n("div",{class:"tiles",children:[n(re,{label:"H\
osts called",value:E(a.called),hint:"with calls in flight"}),n(re,{label:"Hosts with a queue",value:E(a.queued??0),hint:"timers wait for a permit",kind:a.queued?
"warn":""}),n(re,{label:"Open circuits",value:E(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),n(re,{label:"In flight",value:E(a.inFlight??0),
hint:"deliveries of this process"}),n(re,{label:"Callback p50",value:Qe(a.p50),hint:`${t}, last minute`}),n(re,{label:"Callback p99",value:Qe(a.p99),hint:`${t},\
 last minute`})]}),a.results.length>0&&n(O,{title:`Answers of ${t} since the start of this process`,wide:!0,children:n("div",{class:"chips",children:a.results.map(
([s,o])=>n("span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":"dead"}`,children:[s," ",n("strong",{children:E(o)})]},s))})})]})})}function Zi(){let e=S.value,t=j(
`targets/${e}`,3e3,r=>I("targets/list",{namespace:e,limit:200},r));return n(O,{title:"Hosts and user topics",flush:!0,wide:!0,children:n(W,{of:t,children:({delivers:r,
targets:a})=>r?a.length===0?n(q,{title:`No timer of ${e} has been delivered since the start of this process.`}):n(ce,{caption:"Hosts and user topics",head:["Tar\
get","Circuit","Running","Waiting","Concurrency"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Target",children:s.target}),n("t\
d",{"data-label":"Circuit",children:s.circuitOpen?n(ie,{kind:"dead",children:"open"}):n(ie,{kind:"done",children:"closed"})}),n("td",{class:"num","data-label":"\
Running",children:E(s.running)}),n("td",{class:"num","data-label":"Waiting",children:E(s.waiting)}),n("td",{class:"num","data-label":"Concurrency",children:E(s.
concurrency)})]},s.target))}):n(q,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not sh\
are this state."})})})}function Ps(){let e=S.value,t=oe.value.query.get("after")??"",r=j(`flows/${e}/${t}`,3e3,a=>I("flows/list",{namespace:e,after:t||void 0,limit:100},
a));return n(V,{title:"Targets",children:[ct("read")?n(Vi,{}):n("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),n(
Zi,{}),n(O,{title:"Flow keys",flush:!0,wide:!0,children:n(W,{of:r,children:a=>n(b,{children:[a.flows.length===0?n(q,{title:`No flow of ${e} is in use.`,command:`\
timerbus namespace update ${e} --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):n(ce,{caption:"\
Flow keys",head:["Flow key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:a.flows.map(s=>n("tr",{children:[n("td",{class:"id","data-lab\
el":"Flow key",children:s.flowKey}),n("td",{"data-label":"Limit",children:s.limit?an(s.limit):"no pattern matches"}),n("td",{class:"num","data-label":"Running",
children:E(s.running)}),n("td",{class:"num","data-label":"Waiting",children:E(s.waiting)}),n("td",{class:"num","data-label":"Backlog",children:E(s.backlog)}),n(
"td",{class:"num","data-label":"Dispatchers",children:E(s.dispatchers)})]},s.flowKey))}),(a.next||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"\
pager-buttons",children:[t&&n("a",{class:"button",href:R(["targets"]),children:"First page"}),a.next&&n("a",{class:"button",href:R(["targets"],{after:a.next}),children:"\
Next page"})]})]})]})})})]})}function $s({id:e}){let t=S.value,r=d=>d.timerId===e,a=j(`timer/${t}/${e}`,2e3,d=>I("timers/get",{namespace:t,id:e},d),!1,r),s=j(`history/${t}/${e}`,3e3,d=>I("t\
imers/history",{namespace:t,id:e,limit:200},d),!1,r),[o,i]=m(null),c=a.data,u=()=>{a.again(),s.again()},l=c&&ue("write",t)&&n(b,{children:[c.status==="dead"||c.
status==="parked"||c.status==="done"?n(k,{kind:"primary",onClick:()=>{i("retry")},children:"Retry\u2026"}):n(b,{children:[c.status!=="paused"&&n(k,{kind:"primar\
y",onClick:()=>{i("run")},children:"Run now\u2026"}),c.status==="paused"?n(k,{onClick:()=>{i("resume")},children:"Resume\u2026"}):n(k,{onClick:()=>{i("pause")},
children:"Pause\u2026"})]}),c.status!=="dead"&&c.status!=="done"&&n(b,{children:[n(k,{onClick:()=>{i("update")},children:"Update\u2026"}),n(k,{kind:"danger-ghos\
t",onClick:()=>{i("delete")},children:"Delete\u2026"})]})]});return n(V,{title:e,crumb:n(b,{children:[n("a",{href:R(["timers"]),children:"Timers"})," / ",t]}),actions:l,
children:[n(W,{of:a,children:d=>n("div",{class:"grid",children:[n(Gi,{of:d}),n(Yi,{of:d}),n(O,{title:"Attempts",wide:!0,children:n(W,{of:s,children:({attempts:p})=>n(
Qi,{attempts:p,of:d})})})]})}),a.error?.status===404&&n(q,{title:"This timer does not exist, or its history has expired.",children:n("a",{href:R(["timers"]),children:[
"All timers of ",t]})}),c&&o&&n(Xi,{of:c,action:o,close:()=>{i(null)},after:u})]})}function Gi({of:e}){let t=e.retryPolicy,r=e.status==="done"||e.status==="dead";
return n(O,{title:"State",aside:n(Le,{status:e.status}),children:[e.lastError&&n("div",{class:"callout bad",children:[n("strong",{children:e.lastStatusCode?`HTT\
P ${e.lastStatusCode}`:"Last error"})," ",e.lastError]}),n(cn,{of:e.pause}),n($e,{of:[["Due",r?void 0:n(B,{at:e.dueAt})],["Execute at",n(B,{at:e.executeAt})],["\
Local time",e.executeAtLocal&&`${e.executeAtLocal.replace("T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&n(B,{at:e.executedAt})],["Attempts",`${e.attempts}\
 of ${t.maxAttempts}`],["Retry",`from ${ne(t.initialInterval)}, \xD7 ${JSON.stringify(t.backoffMultiplier)}, to ${ne(t.maxInterval)}`+(t.maxAttemptsDuration&&t.
maxAttemptsDuration!=="0s"?`, for ${ne(t.maxAttemptsDuration)}`:"")],["Window",e.window],["Expires",e.expiresAt&&n(B,{at:e.expiresAt})],["Flow key",e.flowKey&&n(
"code",{children:e.flowKey})],["On done",e.onDone&&n("code",{children:e.onDone})],["On dead",e.onDead&&n("code",{children:e.onDead})],["Correlation id",n("a",{href:R(
["timers"],{correlationId:e.correlationId}),children:n("code",{children:e.correlationId})})],["Created",n(B,{at:e.createdAt})],["Updated",n(B,{at:e.updatedAt})],
["Generation",n("code",{children:e.generation})],["UUID",n("code",{children:e.uuid})]]})]})}function Yi({of:e}){let t=!ve.hidePayloads,r=n("p",{class:"muted",children:"\
Hidden by the settings of the server."});return n(O,{title:"Request",children:[n($e,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POS\
T":void 0)],["URL",e.callbackUrl&&n("span",{class:"url",children:[n("code",{children:e.callbackUrl})," ",n(Yn,{text:e.callbackUrl})]})],["Topic",e.topic&&n("cod\
e",{children:e.topic})],["Key",e.key&&n("code",{children:e.key})],["Timeout",ne(e.callbackTimeout)],["Content type",e.request?.contentType]]}),e.headers&&Object.
keys(e.headers).length>0&&n(b,{children:[n("h3",{children:"Headers"}),t?n($e,{of:Object.entries(e.headers).map(([a,s])=>[a,n("code",{children:s})])}):r]}),n("h3",
{children:"Payload"}),t?e.payload!==void 0?n(lt,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?n(lt,{value:e.request.body,label:"Body"}):e.request?.
bodyBase64!==void 0?n(lt,{value:e.request.bodyBase64,label:"Body, base64"}):n("p",{class:"muted",children:e.status==="done"?"A done timer is shown without its p\
ayload.":"This timer has no payload."}):r]})}var Es={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"dead",expired:"parked"};function Qi({attempts:e,
of:t}){if(e.length===0)return n(q,{title:"No attempt has ended yet.",children:t.status==="scheduled"&&n(b,{children:["The first one begins ",n(B,{at:t.dueAt}),"\
."]})});let r=o=>Date.parse(o.finishedAt)-Date.parse(o.startedAt),a=Math.max(1,...e.map(r)),s=(o,i)=>{let c=e[i+1];return Date.parse(o.startedAt)-Date.parse(c?.
generation===o.generation&&c.nextAt?c.nextAt:o.executeAt)};return n("ol",{class:"timeline",children:e.map((o,i)=>n("li",{class:Es[o.outcome],children:[n("div",{
class:"timeline-head",children:[n(ie,{kind:Es[o.outcome],children:o.outcome}),n("strong",{children:["Attempt ",o.attempt]}),n(B,{at:o.startedAt}),n("span",{class:"\
muted",children:[Je(Math.max(0,s(o,i)))," late"]})]}),n("div",{class:"timeline-body",children:[n("span",{children:[t.callbackUrl?n(b,{children:[n("code",{children:t.
request?.method??"POST"})," \u2192 "]}):"published \u2192 ",o.statusCode?n("strong",{children:["HTTP ",o.statusCode]}):o.error?"no answer":"accepted"]}),n("span",
{class:"meter","aria-hidden":"true",children:n("span",{style:{width:`${Math.max(1,r(o)/a*100)}%`}})}),n("span",{class:"num",children:Je(r(o))})]}),o.error&&n("p",
{class:"timeline-error",children:o.error}),o.nextAt&&n("p",{class:"muted",children:["Next attempt: ",n(B,{at:o.nextAt})]})]},o.generation+o.attempt+o.startedAt))})}
function Xi({of:e,action:t,close:r,after:a}){let[s]=m(e),[o,i]=m(""),[c,u]=m("deliver"),[l,d]=m(""),p={namespace:s.namespace,id:s.id,ifGeneration:s.generation},
h={close:r,after:a};switch(t){case"run":return n(fe,{...h,title:`Run ${s.id} now`,verb:"Run now",path:"timers/run-now",body:()=>p,done:`${s.id} runs now.`,children:n(
"p",{children:"The timer becomes due at once, as a new run of attempts."})});case"pause":return n(fe,{...h,title:`Pause ${s.id}`,verb:"Pause",path:"timers/pause",
body:()=>({...p,note:o||void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused timer is not delivered until it is resumed."}),n(N,{label:"Note",
value:o,set:i,hint:"Why it is paused; shown to everyone who may read it."})]});case"resume":return n(fe,{...h,title:`Resume ${s.id}`,verb:"Resume",path:"timers/\
resume",body:()=>({...p,overdue:c}),done:`${s.id} is resumed.`,children:n(pe,{label:"If its time has passed",value:c,set:u,options:[["deliver","Deliver it now"],
["skip","Let it expire"]]})});case"retry":return n(fe,{...h,title:`Retry ${s.id}`,verb:"Retry",path:"timers/retry",body:()=>({...p,executeIn:l||void 0}),done:`${s.
id} is scheduled again.`,children:[n("p",{children:["The timer starts again at attempt 1",s.status==="done"&&". A done timer can be retried only if its namespac\
e keeps payloads","."]}),n(N,{label:"Delay",value:l,set:d,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return n(fe,{...h,title:`De\
lete ${s.id}`,verb:"Delete",danger:!0,path:"timers/delete",body:()=>p,done:`${s.id} is deleted.`,after:()=>{de(["timers"])},children:n("p",{children:"It is not \
delivered any more."})});default:return n(ec,{of:s,...h})}}function ec({of:e,close:t,after:r}){let a={at:qe(e.executeAt),url:e.callbackUrl??"",payload:e.payload===
void 0?"":JSON.stringify(e.payload,null,2)},[s,o]=m(a.at),[i,c]=m(a.url),[u,l]=m(a.payload),d=()=>{let p={};if(s!==a.at){let h=ye(s);if(!h)return"Enter the time\
 completely.";p.executeAt=h}if(i!==a.url&&(p.callbackUrl=i||null),u!==a.payload){let{value:h,error:f}=At(u);if(f)return f;p.payload=h??null}return Object.keys(p).
length===0?"Nothing has changed.":{namespace:e.namespace,id:e.id,ifGeneration:e.generation,...p}};return n(fe,{title:`Update ${e.id}`,verb:"Save",path:"timers/u\
pdate",body:d,done:`${e.id} is updated.`,close:t,after:r,children:[n(N,{label:`Time (${Ee()})`,type:"datetime-local",step:"1",value:s,set:o}),n(N,{label:"Callba\
ck URL",value:i,set:c,mono:!0}),ve.hidePayloads?n("p",{class:"muted",children:"Payloads are hidden by the settings of the server."}):n(Ot,{label:"Payload (JSON)",
value:u,set:l,rows:8}),n("p",{class:"hint",children:"Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed sinc\
e."})]})}var xr=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function tc(){let[e="overview",t,r]=oe.value.path,a=`${e}/${S.value}/${t??""}`;if(!Ce.value&&(e==="overview"||e==="targe\
ts"||kr.value))return n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return n(Aa,{},a);case"\
timers":return t===void 0?n(Ra,{},a):n($s,{id:t},a);case"dead":return n(Ea,{},a);case"schedules":return t===void 0?n(Oa,{},a):n(Na,{id:t},a);case"namespaces":return t===
void 0?n(Fa,{}):n(Ja,{name:t},t);case"targets":return n(Ps,{},a);case"shards":return n(Rs,{},a);case"new":return t==="schedule"?n(ja,{},a):n(Ha,{},a+(r??""));default:
return n(V,{title:"Not found",children:n(q,{title:"There is no such page.",children:n("a",{href:R(["overview"]),children:"Overview"})})})}}function nc({reason:e}){
let[t,r]=m(""),[a,s]=m(),[o,i]=m(!1);ee(()=>{document.title="Sign in \xB7 Timerbus";let l=d=>{d.persisted&&i(!1)};return addEventListener("pageshow",l),()=>{removeEventListener(
"pageshow",l)}},[]);let c=async()=>{Lt.value="",i(!0),s(void 0);try{await Ts()}catch(l){s(new me(0,"SIGN_IN_FAILED",l.message)),i(!1)}},u=async()=>{let l=De.value;
Lt.value="",i(!0),s(void 0),it(t.trim());try{await Rt()}catch(d){it(l),s(se(d))}i(!1)};return n("main",{class:"sign-in",children:n("form",{class:"card",onSubmit:l=>{
l.preventDefault(),u()},children:[n("h1",{children:[n(Sr,{})," Timerbus"]}),We&&n(b,{children:[n("button",{type:"button",class:"button primary block",disabled:o,
onClick:()=>{c()},children:["Sign in with ",We]}),Lt.value&&!a&&n("div",{class:"error",role:"alert",children:n("p",{children:Lt.value})})]}),n("p",{children:[We?
"Or use":"Sign in with"," the token of the service, the token of an API key, or a token of the identity provider."]}),a?n(_e,{error:a}):De.value&&n("div",{class:"\
error",role:"alert",children:n("p",{children:e})}),n("div",{class:"field",children:[n("label",{for:"token",children:"Token"}),n("input",{id:"token",type:"passwo\
rd",value:t,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:l=>{r(l.currentTarget.value)}}),n("p",{class:"hint",id:"token-hint",children:[
"It stays in this tab until the tab is closed. Create a key for reading with",n("code",{children:" timerbus key create ui --grant read@*"}),"."]})]}),n("button",
{type:"submit",class:`button block${We?"":" primary"}`,disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var Sr=()=>n("svg",{class:"mark",viewBox:"0 0 32 \
32","aria-hidden":"true",children:[n("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),n("circle",{cx:"16",cy:"16",r:"9",class:"mark-line"}),n("path",{d:"\
M16 10.5V16l4 2.6",class:"mark-line"})]});function rc({close:e}){return n(Xe,{title:"Keyboard",close:e,children:[n("dl",{class:"facts keys",children:[xr.map(([,
t,r])=>n("div",{children:[n("dt",{children:[n("kbd",{children:"g"})," ",n("kbd",{children:r})]}),n("dd",{children:t})]},r)),n("div",{children:[n("dt",{children:n(
"kbd",{children:"c"})}),n("dd",{children:"Create a timer"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"/"})}),n("dd",{children:"Search or filter"})]}),
n("div",{children:[n("dt",{children:n("kbd",{children:"l"})}),n("dd",{children:"Live updates on or off"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"\
?"})}),n("dd",{children:"This list"})]})]}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:rn.value==="on",onChange:t=>{rn.value=t.currentTarget.
checked?"on":"off"}}),"Use these keys"]})]})}var wr=0;function ac(e){ee(()=>{let t=r=>{let a=r.target;if(r.ctrlKey||r.metaKey||r.altKey||a.closest("input, texta\
rea, select, [contenteditable]")||document.querySelector("dialog[open]"))return;if(r.key==="?"){e();return}if(rn.value==="off")return;let s=Date.now()-wr<1500;if(wr=
0,s){let o=xr.find(([,,i])=>i===r.key);o&&de([o[0]])}else if(r.key==="g")wr=Date.now();else if(r.key==="c")de(["new","timer"]);else if(r.key==="l")Ae.value=Ae.value===
"on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener("keydown",t),()=>{
removeEventListener("keydown",t)}},[])}function sc(){let[e,t]=m(!1),[r,a]=m(!1);ac(()=>{a(!0)}),ee(()=>{let u=new AbortController;return Ce.value&&tn(u.signal).
catch(()=>{}),()=>{u.abort()}},[Ce.value?.name]);let[s="overview"]=oe.value.path;ee(()=>{t(!1)},[oe.value]);let o=[...new Set([S.value,...en.value.map(u=>u.name)])].
sort(),i=u=>{oe.value.path.length>1&&s!=="new"?de([s],{ns:u}):we({ns:u})};return n(b,{children:[n("button",{type:"button",class:"skip",onClick:()=>{document.querySelector(
"#main h1")?.focus()},children:"Skip to the content"}),n("header",{children:[n(k,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{
t(!e)},children:"\u2630"}),n("a",{class:"brand","aria-label":"Timerbus, overview",href:R(["overview"]),children:[n(Sr,{}),n("span",{children:"Timerbus"})]}),n("\
label",{class:"sr",for:"ns",children:"Namespace"}),n("select",{id:"ns",class:"namespace",value:S.value,onChange:u=>{i(u.currentTarget.value)},children:o.map(u=>n(
"option",{value:u,selected:u===S.value,children:u},u))}),n("div",{class:"spacer"}),ve.readOnly&&n("span",{class:"badge paused",children:"read-only"}),n("div",{class:`\
prefs${e?" open":""}`,children:[n("label",{class:"sr",for:"zone",children:"Time zone"}),n("select",{id:"zone",value:Se.value,onChange:u=>{Se.value=u.currentTarget.
value},children:[n("option",{value:"local",selected:Se.value==="local",children:"Local time"}),n("option",{value:"utc",selected:Se.value==="utc",children:"UTC"}),
n("option",{value:"schedule",selected:Se.value==="schedule",children:["Schedule",Ie.value?` (${Ie.value})`:"\u2019s zone"]})]}),n(k,{kind:"ghost live","aria-pre\
ssed":Ae.value==="on",title:Ue.value==="no"?"Live updates by polling":"Live updates by events",onClick:()=>{Ae.value=Ae.value==="on"?"off":"on"},children:[n("sp\
an",{class:"dot"}),"Live"]}),n("label",{class:"sr",for:"theme",children:"Colours"}),n("select",{id:"theme",value:Fe.value,onChange:u=>{Fe.value=u.currentTarget.
value},children:[n("option",{value:"auto",selected:Fe.value==="auto",children:"Auto"}),n("option",{value:"light",selected:Fe.value==="light",children:"Light"}),
n("option",{value:"dark",selected:Fe.value==="dark",children:"Dark"})]})]})]}),n("div",{class:"frame",children:[n("nav",{id:"nav","aria-label":"Pages",class:e?"\
open":"",children:[n("ul",{children:xr.map(([u,l])=>n("li",{children:n("a",{href:R([u]),"aria-current":s===u?"page":void 0,children:l})},u))}),n("div",{class:"n\
av-foot",children:[n("div",{children:Ce.value?.name==="anyone"?"no credential required":Ce.value?.name}),De.value&&n(k,{kind:"small",onClick:()=>{it(""),Ce.value=
null,en.value=[],He.value=""},children:"Sign out"}),n(k,{kind:"small",onClick:()=>{a(!0)},children:"Keyboard"}),n("div",{class:"version",children:[ve.version," \
\xB7 ",n("a",{href:"licenses.txt",children:"licences"})]})]})]}),n("main",{id:"main",children:n(tc,{})})]}),n("div",{class:"notices",role:"status","aria-live":"\
polite",children:ut.value.map(u=>n("div",{class:`notice ${u.kind}`,children:[u.text,n(k,{kind:"icon","aria-label":"Dismiss",onClick:()=>{Vn(u.id)},children:"\u2715"})]},
u.id))}),r&&n(rc,{close:()=>{a(!1)}})]})}var Lt=K(""),kr=K(Cs()),oc=kr.value?As().catch(e=>{Lt.value=e.message}).then(()=>(kr.value=!1,Rt())):Rt();function ic(){
let[e,t]=m(),r=(a=Rt())=>{t(void 0),a.catch(s=>{let o=se(s);o.status!==401&&t(o)})};return qt(()=>{r(oc)},[]),He.value!==null?n(nc,{reason:He.value}):e?n("main",
{class:"sign-in",children:n("div",{class:"card",children:[n("h1",{children:[n(Sr,{})," Timerbus"]}),n(_e,{error:e,again:()=>{r()}})]})}):n(sc,{})}Ur(n(ic,{}),document.
getElementById("app"));
